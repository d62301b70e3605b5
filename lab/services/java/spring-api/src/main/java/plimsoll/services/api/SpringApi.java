package plimsoll.services.api;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/** Two interfaces that cost next to nothing: a list out of a local cache, and a sleep. */
@SpringBootApplication
public class SpringApi {
    /** Starts it; its options are the keys of application.properties. */
    public static void main(String[] args) {
        SpringApplication.run(SpringApi.class, args);
    }
}
