package plimsoll.services.accounts;

import java.io.Serializable;

/** What a login answers. A plain class and no record, so that every serialization of Dubbo can carry it. */
public final class Account implements Serializable {
    private static final long serialVersionUID = 1;

    private long id;
    private String name;
    private String rights;
    private String session;

    /** Empty, for serializations that fill it in. */
    public Account() {}

    /** With everything known of it. */
    public Account(long id, String name, String rights, String session) {
        this.id = id;
        this.name = name;
        this.rights = rights;
        this.session = session;
    }

    /** Its number, from 1 on. */
    public long getId() {
        return id;
    }

    /** Sets its number. */
    public void setId(long id) {
        this.id = id;
    }

    /** Its user's name. */
    public String getName() {
        return name;
    }

    /** Sets its user's name. */
    public void setName(String name) {
        this.name = name;
    }

    /** What its user may do. */
    public String getRights() {
        return rights;
    }

    /** Sets what its user may do. */
    public void setRights(String rights) {
        this.rights = rights;
    }

    /** The token of its session. */
    public String getSession() {
        return session;
    }

    /** Sets the token of its session. */
    public void setSession(String session) {
        this.session = session;
    }
}
