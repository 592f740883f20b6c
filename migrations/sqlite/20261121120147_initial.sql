-- create "changes" table
CREATE TABLE `changes` (`id` integer NOT NULL, `kind` text NOT NULL, `record_id` integer NOT NULL, `action` text NOT NULL, `user_id` integer NULL, `at` datetime NOT NULL, `fields` json NULL, PRIMARY KEY (`id`));
-- create index "change_kind_record_id_id" to table: "changes"
CREATE INDEX `change_kind_record_id_id` ON `changes` (`kind`, `record_id`, `id`);
-- create "counters" table
CREATE TABLE `counters` (`name` text NOT NULL, `value` integer NOT NULL DEFAULT (0), PRIMARY KEY (`name`));
-- create "events" table
CREATE TABLE `events` (`id` integer NOT NULL, `status` text NOT NULL, `status_before_trash` text NOT NULL DEFAULT (''), `published_at` datetime NOT NULL, `dated` bool NOT NULL DEFAULT (false), `language` text NOT NULL, `languages` text NOT NULL, `created_at` datetime NOT NULL, `modified_at` datetime NOT NULL, `version` integer NOT NULL DEFAULT (1), `source_id` text NULL, `title` text NOT NULL, `description` text NOT NULL DEFAULT (''), `excerpt` text NOT NULL DEFAULT (''), `slug` text NOT NULL DEFAULT (''), `starts_at` datetime NOT NULL, `ends_at` datetime NOT NULL, `start_wall` datetime NOT NULL, `end_wall` datetime NOT NULL, `timezone` text NOT NULL, `all_day` bool NOT NULL DEFAULT (false), `cost` json NULL, `website` text NULL, `password_hash` blob NULL, `show_map` bool NOT NULL DEFAULT (false), `show_map_link` bool NOT NULL DEFAULT (false), `hide_from_listings` bool NOT NULL DEFAULT (false), `sticky` bool NOT NULL DEFAULT (false), `featured` bool NOT NULL DEFAULT (false), `ticketed` bool NOT NULL DEFAULT (false), `parent_id` integer NULL, `image_id` integer NULL, `author_id` integer NULL, PRIMARY KEY (`id`), CONSTRAINT `events_events_children` FOREIGN KEY (`parent_id`) REFERENCES `events` (`id`) ON DELETE SET NULL, CONSTRAINT `events_images_events` FOREIGN KEY (`image_id`) REFERENCES `images` (`id`) ON DELETE SET NULL, CONSTRAINT `events_users_events` FOREIGN KEY (`author_id`) REFERENCES `users` (`id`) ON DELETE SET NULL);
-- create index "events_source_id_key" to table: "events"
CREATE UNIQUE INDEX `events_source_id_key` ON `events` (`source_id`);
-- create index "event_status_published_at_id" to table: "events"
CREATE INDEX `event_status_published_at_id` ON `events` (`status`, `published_at`, `id`);
-- create index "event_author_id" to table: "events"
CREATE INDEX `event_author_id` ON `events` (`author_id`);
-- create index "event_image_id" to table: "events"
CREATE INDEX `event_image_id` ON `events` (`image_id`);
-- create index "event_status_hide_from_listings_starts_at_id_ends_at" to table: "events"
CREATE INDEX `event_status_hide_from_listings_starts_at_id_ends_at` ON `events` (`status`, `hide_from_listings`, `starts_at`, `id`, `ends_at`);
-- create index "event_parent_id_starts_at" to table: "events"
CREATE INDEX `event_parent_id_starts_at` ON `events` (`parent_id`, `starts_at`);
-- create "event_organizers" table
CREATE TABLE `event_organizers` (`position` integer NOT NULL DEFAULT (0), `event_id` integer NOT NULL, `organizer_id` integer NOT NULL, PRIMARY KEY (`event_id`, `organizer_id`), CONSTRAINT `event_organizers_events_event` FOREIGN KEY (`event_id`) REFERENCES `events` (`id`) ON DELETE NO ACTION, CONSTRAINT `event_organizers_organizers_organizer` FOREIGN KEY (`organizer_id`) REFERENCES `organizers` (`id`) ON DELETE NO ACTION);
-- create index "eventorganizer_organizer_id_event_id" to table: "event_organizers"
CREATE INDEX `eventorganizer_organizer_id_event_id` ON `event_organizers` (`organizer_id`, `event_id`);
-- create "event_terms" table
CREATE TABLE `event_terms` (`event_id` integer NOT NULL, `term_id` integer NOT NULL, PRIMARY KEY (`event_id`, `term_id`), CONSTRAINT `event_terms_events_event` FOREIGN KEY (`event_id`) REFERENCES `events` (`id`) ON DELETE CASCADE, CONSTRAINT `event_terms_terms_term` FOREIGN KEY (`term_id`) REFERENCES `terms` (`id`) ON DELETE CASCADE);
-- create index "eventterm_term_id_event_id" to table: "event_terms"
CREATE INDEX `eventterm_term_id_event_id` ON `event_terms` (`term_id`, `event_id`);
-- create "event_translations" table
CREATE TABLE `event_translations` (`id` integer NOT NULL PRIMARY KEY AUTOINCREMENT, `language` text NOT NULL, `description` text NOT NULL DEFAULT (''), `slug` text NOT NULL DEFAULT (''), `title` text NOT NULL DEFAULT (''), `excerpt` text NOT NULL DEFAULT (''), `event_id` integer NOT NULL, CONSTRAINT `event_translations_events_translations` FOREIGN KEY (`event_id`) REFERENCES `events` (`id`) ON DELETE CASCADE);
-- create index "eventtranslation_event_id_language" to table: "event_translations"
CREATE UNIQUE INDEX `eventtranslation_event_id_language` ON `event_translations` (`event_id`, `language`);
-- create "event_venues" table
CREATE TABLE `event_venues` (`position` integer NOT NULL DEFAULT (0), `event_id` integer NOT NULL, `venue_id` integer NOT NULL, PRIMARY KEY (`event_id`, `venue_id`), CONSTRAINT `event_venues_events_event` FOREIGN KEY (`event_id`) REFERENCES `events` (`id`) ON DELETE NO ACTION, CONSTRAINT `event_venues_venues_venue` FOREIGN KEY (`venue_id`) REFERENCES `venues` (`id`) ON DELETE NO ACTION);
-- create index "eventvenue_venue_id_event_id" to table: "event_venues"
CREATE INDEX `eventvenue_venue_id_event_id` ON `event_venues` (`venue_id`, `event_id`);
-- create "images" table
CREATE TABLE `images` (`id` integer NOT NULL, `path` text NOT NULL DEFAULT (''), `source_url` text NOT NULL DEFAULT (''), `source_id` text NULL, `extension` text NOT NULL, `mime_type` text NOT NULL, `width` integer NOT NULL, `height` integer NOT NULL, `filesize` integer NOT NULL, `sizes` json NULL, `created_at` datetime NOT NULL, `version` integer NOT NULL DEFAULT (1), `author_id` integer NULL, PRIMARY KEY (`id`), CONSTRAINT `images_users_images` FOREIGN KEY (`author_id`) REFERENCES `users` (`id`) ON DELETE SET NULL);
-- create index "images_source_id_key" to table: "images"
CREATE UNIQUE INDEX `images_source_id_key` ON `images` (`source_id`);
-- create index "image_author_id" to table: "images"
CREATE INDEX `image_author_id` ON `images` (`author_id`);
-- create index "image_created_at_id" to table: "images"
CREATE INDEX `image_created_at_id` ON `images` (`created_at`, `id`);
-- create index "image_path" to table: "images"
CREATE INDEX `image_path` ON `images` (`path`);
-- create "organizers" table
CREATE TABLE `organizers` (`id` integer NOT NULL, `status` text NOT NULL, `status_before_trash` text NOT NULL DEFAULT (''), `published_at` datetime NOT NULL, `dated` bool NOT NULL DEFAULT (false), `language` text NOT NULL, `languages` text NOT NULL, `created_at` datetime NOT NULL, `modified_at` datetime NOT NULL, `version` integer NOT NULL DEFAULT (1), `source_id` text NULL, `name` text NOT NULL, `name_key` text NOT NULL, `description` text NOT NULL DEFAULT (''), `slug` text NOT NULL DEFAULT (''), `phone` text NOT NULL DEFAULT (''), `website` text NOT NULL DEFAULT (''), `email` text NOT NULL DEFAULT (''), `image_id` integer NULL, `author_id` integer NULL, PRIMARY KEY (`id`), CONSTRAINT `organizers_images_organizers` FOREIGN KEY (`image_id`) REFERENCES `images` (`id`) ON DELETE SET NULL, CONSTRAINT `organizers_users_organizers` FOREIGN KEY (`author_id`) REFERENCES `users` (`id`) ON DELETE SET NULL);
-- create index "organizers_source_id_key" to table: "organizers"
CREATE UNIQUE INDEX `organizers_source_id_key` ON `organizers` (`source_id`);
-- create index "organizer_status_published_at_id" to table: "organizers"
CREATE INDEX `organizer_status_published_at_id` ON `organizers` (`status`, `published_at`, `id`);
-- create index "organizer_author_id" to table: "organizers"
CREATE INDEX `organizer_author_id` ON `organizers` (`author_id`);
-- create index "organizer_image_id" to table: "organizers"
CREATE INDEX `organizer_image_id` ON `organizers` (`image_id`);
-- create index "organizer_name_key" to table: "organizers"
CREATE INDEX `organizer_name_key` ON `organizers` (`name_key`);
-- create "organizer_translations" table
CREATE TABLE `organizer_translations` (`id` integer NOT NULL PRIMARY KEY AUTOINCREMENT, `language` text NOT NULL, `description` text NOT NULL DEFAULT (''), `slug` text NOT NULL DEFAULT (''), `name` text NOT NULL DEFAULT (''), `name_key` text NOT NULL DEFAULT (''), `organizer_id` integer NOT NULL, CONSTRAINT `organizer_translations_organizers_translations` FOREIGN KEY (`organizer_id`) REFERENCES `organizers` (`id`) ON DELETE CASCADE);
-- create index "organizertranslation_name_key" to table: "organizer_translations"
CREATE INDEX `organizertranslation_name_key` ON `organizer_translations` (`name_key`);
-- create index "organizertranslation_organizer_id_language" to table: "organizer_translations"
CREATE UNIQUE INDEX `organizertranslation_organizer_id_language` ON `organizer_translations` (`organizer_id`, `language`);
-- create "records" table
CREATE TABLE `records` (`id` integer NOT NULL PRIMARY KEY AUTOINCREMENT, `kind` text NOT NULL);
-- create "search_texts" table
CREATE TABLE `search_texts` (`id` integer NOT NULL PRIMARY KEY AUTOINCREMENT, `kind` text NOT NULL, `owner_id` integer NOT NULL, `languages` integer NOT NULL, `text` text NOT NULL);
-- create index "searchtext_owner_id_kind" to table: "search_texts"
CREATE INDEX `searchtext_owner_id_kind` ON `search_texts` (`owner_id`, `kind`);
-- create "settings" table
CREATE TABLE `settings` (`name` text NOT NULL, `value` blob NOT NULL, PRIMARY KEY (`name`));
-- create "slugs" table
CREATE TABLE `slugs` (`id` integer NOT NULL PRIMARY KEY AUTOINCREMENT, `kind` text NOT NULL, `slug` text NOT NULL, `owner_id` integer NOT NULL, `language` text NOT NULL, `trashed_id` integer NOT NULL DEFAULT (0));
-- create index "slug_kind_slug_trashed_id" to table: "slugs"
CREATE UNIQUE INDEX `slug_kind_slug_trashed_id` ON `slugs` (`kind`, `slug`, `trashed_id`);
-- create index "slug_owner_id_kind" to table: "slugs"
CREATE INDEX `slug_owner_id_kind` ON `slugs` (`owner_id`, `kind`);
-- create "terms" table
CREATE TABLE `terms` (`id` integer NOT NULL PRIMARY KEY AUTOINCREMENT, `language` text NOT NULL, `languages` text NOT NULL, `created_at` datetime NOT NULL, `modified_at` datetime NOT NULL, `version` integer NOT NULL DEFAULT (1), `source_id` text NULL, `name` text NOT NULL, `name_key` text NOT NULL, `description` text NOT NULL DEFAULT (''), `slug` text NOT NULL DEFAULT (''), `taxonomy` text NOT NULL, `event_count` integer NOT NULL DEFAULT (0), `parent_id` integer NULL, CONSTRAINT `terms_terms_children` FOREIGN KEY (`parent_id`) REFERENCES `terms` (`id`) ON DELETE SET NULL);
-- create index "terms_source_id_key" to table: "terms"
CREATE UNIQUE INDEX `terms_source_id_key` ON `terms` (`source_id`);
-- create index "term_name_key" to table: "terms"
CREATE INDEX `term_name_key` ON `terms` (`name_key`);
-- create index "term_taxonomy_name_key_id" to table: "terms"
CREATE INDEX `term_taxonomy_name_key_id` ON `terms` (`taxonomy`, `name_key`, `id`);
-- create index "term_parent_id" to table: "terms"
CREATE INDEX `term_parent_id` ON `terms` (`parent_id`);
-- create "term_translations" table
CREATE TABLE `term_translations` (`id` integer NOT NULL PRIMARY KEY AUTOINCREMENT, `language` text NOT NULL, `description` text NOT NULL DEFAULT (''), `slug` text NOT NULL DEFAULT (''), `name` text NOT NULL DEFAULT (''), `name_key` text NOT NULL DEFAULT (''), `term_id` integer NOT NULL, CONSTRAINT `term_translations_terms_translations` FOREIGN KEY (`term_id`) REFERENCES `terms` (`id`) ON DELETE CASCADE);
-- create index "termtranslation_name_key" to table: "term_translations"
CREATE INDEX `termtranslation_name_key` ON `term_translations` (`name_key`);
-- create index "termtranslation_term_id_language" to table: "term_translations"
CREATE UNIQUE INDEX `termtranslation_term_id_language` ON `term_translations` (`term_id`, `language`);
-- create "tokens" table
CREATE TABLE `tokens` (`id` integer NOT NULL PRIMARY KEY AUTOINCREMENT, `name` text NOT NULL DEFAULT (''), `hash` blob NOT NULL, `created_at` datetime NOT NULL, `expires_at` datetime NULL, `last_used_at` datetime NULL, `revoked_at` datetime NULL, `user_id` integer NOT NULL, CONSTRAINT `tokens_users_tokens` FOREIGN KEY (`user_id`) REFERENCES `users` (`id`) ON DELETE CASCADE);
-- create index "tokens_hash_key" to table: "tokens"
CREATE UNIQUE INDEX `tokens_hash_key` ON `tokens` (`hash`);
-- create index "token_user_id" to table: "tokens"
CREATE INDEX `token_user_id` ON `tokens` (`user_id`);
-- create "users" table
CREATE TABLE `users` (`id` integer NOT NULL PRIMARY KEY AUTOINCREMENT, `login` text NOT NULL, `name` text NOT NULL DEFAULT (''), `role` text NOT NULL, `password_hash` text NULL, `created_at` datetime NOT NULL, `disabled_at` datetime NULL);
-- create index "users_login_key" to table: "users"
CREATE UNIQUE INDEX `users_login_key` ON `users` (`login`);
-- create "venues" table
CREATE TABLE `venues` (`id` integer NOT NULL, `status` text NOT NULL, `status_before_trash` text NOT NULL DEFAULT (''), `published_at` datetime NOT NULL, `dated` bool NOT NULL DEFAULT (false), `language` text NOT NULL, `languages` text NOT NULL, `created_at` datetime NOT NULL, `modified_at` datetime NOT NULL, `version` integer NOT NULL DEFAULT (1), `source_id` text NULL, `name` text NOT NULL, `name_key` text NOT NULL, `description` text NOT NULL DEFAULT (''), `slug` text NOT NULL DEFAULT (''), `address` text NOT NULL DEFAULT (''), `city` text NOT NULL DEFAULT (''), `country` text NOT NULL DEFAULT (''), `province` text NOT NULL DEFAULT (''), `state` text NOT NULL DEFAULT (''), `zip` text NOT NULL DEFAULT (''), `phone` text NOT NULL DEFAULT (''), `stateprovince` text NOT NULL DEFAULT (''), `website` text NOT NULL DEFAULT (''), `show_map` bool NOT NULL DEFAULT (true), `show_map_link` bool NOT NULL DEFAULT (true), `latitude` real NULL, `longitude` real NULL, `cell` integer NULL, `image_id` integer NULL, `author_id` integer NULL, PRIMARY KEY (`id`), CONSTRAINT `venues_images_venues` FOREIGN KEY (`image_id`) REFERENCES `images` (`id`) ON DELETE SET NULL, CONSTRAINT `venues_users_venues` FOREIGN KEY (`author_id`) REFERENCES `users` (`id`) ON DELETE SET NULL);
-- create index "venues_source_id_key" to table: "venues"
CREATE UNIQUE INDEX `venues_source_id_key` ON `venues` (`source_id`);
-- create index "venue_status_published_at_id" to table: "venues"
CREATE INDEX `venue_status_published_at_id` ON `venues` (`status`, `published_at`, `id`);
-- create index "venue_author_id" to table: "venues"
CREATE INDEX `venue_author_id` ON `venues` (`author_id`);
-- create index "venue_image_id" to table: "venues"
CREATE INDEX `venue_image_id` ON `venues` (`image_id`);
-- create index "venue_name_key" to table: "venues"
CREATE INDEX `venue_name_key` ON `venues` (`name_key`);
-- create index "venue_cell" to table: "venues"
CREATE INDEX `venue_cell` ON `venues` (`cell`);
-- create "venue_translations" table
CREATE TABLE `venue_translations` (`id` integer NOT NULL PRIMARY KEY AUTOINCREMENT, `language` text NOT NULL, `description` text NOT NULL DEFAULT (''), `slug` text NOT NULL DEFAULT (''), `name` text NOT NULL DEFAULT (''), `name_key` text NOT NULL DEFAULT (''), `venue_id` integer NOT NULL, CONSTRAINT `venue_translations_venues_translations` FOREIGN KEY (`venue_id`) REFERENCES `venues` (`id`) ON DELETE CASCADE);
-- create index "venuetranslation_name_key" to table: "venue_translations"
CREATE INDEX `venuetranslation_name_key` ON `venue_translations` (`name_key`);
-- create index "venuetranslation_venue_id_language" to table: "venue_translations"
CREATE UNIQUE INDEX `venuetranslation_venue_id_language` ON `venue_translations` (`venue_id`, `language`);
