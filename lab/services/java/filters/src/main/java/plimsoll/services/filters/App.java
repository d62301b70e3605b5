package plimsoll.services.filters;

import com.fasterxml.jackson.annotation.JsonProperty;

/** One row of the table. */
record App(@JsonProperty("app_id") int id, @JsonProperty("app_key") String key,
        @JsonProperty("agroup_id") int group, @JsonProperty("name") String name) {}
