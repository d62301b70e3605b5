package plimsoll.services.accounts;

/** The interface between the login service and what it logs in with, in the same process or behind Dubbo. */
public interface Accounts {
    /** The account of this number, or null where there is none. Three reads. */
    Account login(long id);

    /** Writes a value as a string; answers what the store said. */
    String writeString(String key, String value);

    /** Writes one field of a hash; answers how many fields are new. */
    long writeHash(String key, String field, String value);
}
