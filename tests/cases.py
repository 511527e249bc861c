"""Which tests keep each fault away that people met in programs like this one: R1 to R44, with a title of our own.

A test is named as pytest names it, without what stands in brackets; `A::B` is a test in a class.
"""

from __future__ import annotations

from typing import NamedTuple


class Case(NamedTuple):
    """One kind of fault."""

    title: str
    tests: str
    """One a line."""


CASES = {
    1: Case(
        "what machines did does not drown what people said",
        """
        test_domain_lists.py::test_automation_drowns_nobody_and_is_counted
        test_service_sqlite.py::test_automation_is_counted_and_a_filter_brings_it_back
        test_screens_browse.py::test_the_list_says_how_much_is_hidden_and_a_shows_it
        """,
    ),
    2: Case(
        "the oldest of very many is found and reached",
        """
        test_domain_lists.py::test_the_oldest_of_twelve_hundred_is_found_by_its_title
        test_service_sqlite.py::test_the_oldest_of_many_is_found_and_reached
        test_screens_browse.py::test_end_reaches_the_last_of_many_rows_and_the_counter_counts_all
        """,
    ),
    3: Case(
        "a source that nobody thought of is listed",
        """
        test_domain_lists.py::test_a_source_nobody_thought_of_is_listed
        test_cases.py::test_r3_any_source_is_listed_and_shown
        """,
    ),
    4: Case(
        "archived is hidden, marked, and one filter away",
        """
        test_storage_catalogue.py::test_archived_null_is_not_archived
        test_domain_lists.py::test_each_row_is_hidden_under_the_first_reason_that_holds
        test_cases.py::test_r4_archived_is_one_filter_away
        """,
    ),
    5: Case(
        "dated by the last word, never by the first",
        """
        test_storage_catalogue.py::test_last_active_is_the_newest_visible_message_or_heartbeat_never_the_start
        test_cases.py::test_r5_what_is_in_use_stands_first
        """,
    ),
    6: Case(
        "resuming any segment continues the tip",
        """
        test_storage_resume.py::test_every_segment_resumes_the_tip
        test_service_sqlite.py::test_a_word_in_three_segments_is_one_hit_and_resumes_the_tip
        test_hermes_resume.py::test_hermes_continues_the_tip
        test_main_path.py::test_resuming_any_segment_continues_the_tip
        """,
    ),
    7: Case(
        "a new beginning is another conversation",
        """
        test_storage_resume.py::test_a_reset_is_a_conversation_of_its_own
        test_cases.py::test_r7_both_sides_of_a_reset_are_listed_and_resumed
        test_main_path.py::test_resets_and_branches_are_resumed_themselves
        """,
    ),
    8: Case(
        "a chain is one row, in the list and in a search",
        """
        test_service_sqlite.py::test_twelve_segments_are_one_row
        test_search_cases.py::test_r8_a_chain_is_one_row_with_the_matches_of_all_its_segments
        """,
    ),
    9: Case(
        "a chain is read from root to tip",
        """
        test_service_sqlite.py::test_the_service_reads_transcripts_of_whole_chains
        test_storage_transcripts.py::test_a_chain_reads_root_to_tip_with_its_seams
        test_screens_transcript.py::test_a_chain_is_read_through_with_a_seam_at_each_compression
        """,
    ),
    10: Case(
        "operators in the wrong place do no harm",
        """
        test_search_cases.py::test_r10_doubled_and_dangling_operators_do_no_harm
        test_search_cases.py::test_r10_what_the_grammar_promises
        """,
    ),
    11: Case(
        "names with punctuation are found as they are",
        """
        test_search_cases.py::test_r11_punctuated_names_find_the_text_that_holds_them
        test_search_cases.py::test_r11_while_one_types_the_last_word_is_a_beginning
        """,
    ),
    12: Case(
        "nothing found, not understood, no index and not ready yet look different",
        """
        test_search_cases.py::test_r12_nothing_found_and_nothing_understood_are_different_things
        test_screens_search.py::test_the_four_pictures_are_distinct
        test_cli_output.py::test_nothing_found_is_said_in_words_and_in_the_code
        """,
    ),
    13: Case(
        "words may stand in different messages of one conversation",
        """
        test_search_cases.py::test_r13_words_may_stand_in_different_messages
        test_search_cases.py::test_r13_some_of_the_words_only_when_nothing_else_is_found
        """,
    ),
    14: Case(
        "titles and ids are found",
        """
        test_search_cases.py::test_r14_titles_and_ids_are_searched_and_come_first
        test_service_sqlite.py::test_the_filter_looks_into_titles_prompts_ids_sources_models_and_workspaces
        """,
    ),
    15: Case(
        "writing without blanks is found wherever it stands",
        """
        test_search_cases.py::test_r15_chinese_is_found_wherever_it_stands
        test_search_recall.py::test_a_search_finds_what_reading_every_message_finds
        """,
    ),
    16: Case(
        "automation stands below people, and is not starved",
        """
        test_search_cases.py::test_r16_automation_drowns_nobody_and_is_drowned_by_nobody
        """,
    ),
    17: Case(
        "a hit opens at its match, and the next one follows",
        """
        test_search_cases.py::test_r17_a_hit_names_its_message
        test_storage_find.py::test_a_needle_in_a_long_conversation
        test_screens_transcript.py::test_it_opens_at_the_match_with_the_words_lit_and_steps_to_the_next
        """,
    ),
    18: Case(
        "what tools were told and said is found, and named as such",
        """
        test_search_cases.py::test_r18_matches_in_tools_are_found_named_and_below_what_people_said
        """,
    ),
    19: Case(
        "what was undone is nowhere",
        """
        test_storage_transcripts.py::test_undone_messages_never_come_back
        test_storage_transcripts.py::test_older_stores_show_what_they_know_to_be_shown
        test_search_cases.py::test_undone_hidden_and_model_only_rows_are_never_found
        test_screens_transcript.py::test_undone_messages_go
        """,
    ),
    20: Case(
        "pictures are placeholders beside their text",
        """
        test_domain_contents.py::test_no_base64_is_ever_shown
        test_storage_messages.py::test_an_image_turn_shows_its_text_and_a_count
        """,
    ),
    21: Case(
        "what was written for the model is not what the person said",
        """
        test_storage_sessions.py::test_the_preview_is_the_first_thing_the_person_said
        test_storage_transcripts.py::test_what_is_for_the_model_alone_is_left_out
        test_widgets_transcript_messages.py::test_commentary_and_handoffs_are_folded_to_one_line
        """,
    ),
    22: Case(
        "a malformed row costs itself alone",
        """
        test_storage_messages.py::test_malformed_rows_cost_nothing_but_themselves
        test_domain_calls.py::test_no_cell_raises
        test_widgets_transcript_messages.py::test_calls_that_cannot_be_read_stand_as_they_are_stored
        test_trials.py::test_no_damage_makes_a_command_fail_otherwise_than_in_a_line
        """,
    ),
    23: Case(
        "brackets are text",
        """
        test_screens_browse.py::test_hostile_texts_stand_there_letter_by_letter_and_do_nothing
        test_screens_search.py::test_hostile_words_stand_literally_everywhere
        test_screens_transcript.py::test_what_looks_like_markup_is_shown_as_it_is
        test_widgets_preview.py::test_hostile_texts_are_shown_and_do_nothing
        test_widgets_tree.py::test_hostile_titles_and_reasons_are_harmless
        test_clipboard.py::test_the_toast_says_where_it_went_and_shows_the_text_letter_by_letter
        """,
    ),
    24: Case(
        "no stored byte acts on the terminal",
        """
        test_cli_output.py::test_no_stored_byte_acts_on_a_terminal
        test_widgets_transcript_messages.py::test_what_a_terminal_must_not_get_never_becomes_a_row
        test_screens_resume.py::test_a_hostile_command_is_shown_whole_and_harmless
        """,
    ),
    25: Case(
        "beside a live writer everything is seen and nothing is touched",
        """
        test_storage_connection.py::TestBesideAWriter::test_uncheckpointed_rows_are_seen_and_nothing_changes
        test_storage_connection.py::TestBesideAWriter::test_a_reader_that_is_killed_leaves_the_writer_alone
        test_trials.py::test_beside_the_program_a_writer_writes_what_it_writes_alone
        test_trials.py::test_a_program_that_is_killed_leaves_a_quiet_store_as_it_was
        """,
    ),
    26: Case(
        "a folder in which nothing may be written",
        """
        test_storage_connection.py::TestReadOnlyFolders::test_a_quiet_wal_store_opens_and_nothing_is_created
        test_storage_connection.py::TestReadOnlyFolders::test_a_wal_that_cannot_be_read_is_said
        test_storage_connection.py::TestReadOnlyFolders::test_a_writable_folder_is_never_opened_immutable
        """,
    ),
    27: Case(
        "a lock is waited for, and said when it stays",
        """
        test_service_reader.py::TestLocks::test_a_lock_that_goes_is_waited_for
        test_service_reader.py::TestLocks::test_a_lock_that_stays_is_said
        test_screens_browse.py::test_loading_failed_busy_and_empty_are_different_pictures
        test_screens_search.py::test_a_busy_store_is_searched_again_without_being_told
        """,
    ),
    28: Case(
        "what is no store is one line, and nothing is created",
        """
        test_storage_connection.py::TestWhatIsNoStore::test_no_file
        test_storage_connection.py::TestWhatIsNoStore::test_a_folder
        test_storage_connection.py::TestWhatIsNoStore::test_a_file_of_something_else
        test_cli_process.py::TestWhereItLooks::test_an_empty_or_absent_home_stays_so
        """,
    ),
    29: Case(
        "older and newer schemas are read",
        """
        test_storage_catalogue.py::test_rows_of_every_schema_and_what_is_not_stored_is_blank
        test_storage_catalogue.py::test_a_newer_schema_with_more_columns_and_fewer_is_read
        test_storage_connection.py::test_an_unknown_newer_schema_opens
        test_search_recall.py::test_every_planted_word_leads_to_its_place
        """,
    ),
    30: Case(
        "damage costs what lies on it, and is said",
        """
        test_storage_damage.py::test_no_damaged_page_costs_more_than_what_is_on_it
        test_storage_damage.py::test_a_search_goes_on_beside_a_damaged_page_and_says_so
        test_storage_catalogue.py::test_damaged_messages_cost_no_session
        test_cli_output.py::test_conversations_that_could_not_be_read_whole_are_counted
        """,
    ),
    31: Case(
        "an index that is stale, half-built or gone hides nothing",
        """
        test_search_trouble.py::test_whatever_the_index_is_like_the_same_is_found
        test_search_trouble.py::test_r31_how_far_a_rebuild_is_and_which_way_was_taken
        """,
    ),
    32: Case(
        "the list reads no message texts",
        """
        test_storage_catalogue.py::test_the_list_never_reads_the_text_of_messages
        test_widgets_rows.py::test_only_rows_in_sight_are_ever_drawn
        """,
    ),
    33: Case(
        "a conversation of any length costs what is in sight",
        """
        test_screens_transcript.py::test_a_hundred_thousand_messages_take_no_more_widgets_or_texts_than_a_hundred
        test_storage_windows.py::test_a_window_asks_for_as_many_rows_however_long_the_rest_is
        test_widgets_transcript_layout.py::test_a_hundred_thousand_messages_cost_no_more_than_what_is_in_sight
        test_widgets_transcript_messages.py::test_a_long_text_is_made_ready_in_steps
        """,
    ),
    34: Case(
        "while one types, letters are text",
        """
        test_widgets_query.py::test_every_letter_is_text_and_no_command
        test_screens_search.py::test_letters_go_into_the_box_and_escape_clears_before_it_leaves
        test_screens_browse.py::test_what_is_typed_fast_into_the_filter_is_text_and_no_command
        test_screens_transcript.py::test_letters_are_text_while_one_types_and_escape_clears_then_closes
        """,
    ),
    35: Case(
        "what another process writes moves no cursor",
        """
        test_screens_browse.py::test_the_cursor_stays_on_its_conversation_when_others_come_and_go
        test_screens_browse.py::test_a_deleted_conversation_gives_its_place_to_the_next
        test_service_sqlite.py::test_the_list_follows_the_store
        test_screens_transcript.py::test_at_the_end_it_follows_what_is_written_and_elsewhere_it_says_how_much_is_new
        """,
    ),
    36: Case(
        "the terminal is handed over whole and comes back whole",
        """
        test_walk.py::test_from_the_list_to_hermes_and_back
        test_cli_terminal.py::test_enter_in_the_panel_becomes_hermes
        test_cli_terminal.py::test_b_in_the_panel_comes_back
        test_cli_process.py::TestResumeRuns::test_without_hermes_there_is_the_command_to_copy
        test_trials.py::test_random_keys_over_a_store_that_is_written_do_no_harm
        """,
    ),
    37: Case(
        "a copy says where it went",
        """
        test_clipboard.py::test_inside_tmux_the_sequence_is_wrapped_with_its_escapes_doubled
        test_clipboard.py::test_what_no_terminal_takes_is_not_sent_and_said_to_be_too_large
        test_clipboard.py::test_the_toast_says_where_it_went_and_shows_the_text_letter_by_letter
        """,
    ),
    38: Case(
        "columns are counted in cells",
        """
        test_widgets_conversations.py::test_columns_start_at_the_same_cell_whatever_the_title_is_made_of
        test_widgets_conversations.py::test_a_cut_title_is_never_cut_inside_a_wide_character_or_a_cluster
        test_cli_output.py::test_columns_align_by_cells
        """,
    ),
    39: Case(
        "without a terminal, and into a closed pipe",
        """
        test_cli_process.py::TestStreams::test_without_a_terminal_the_screen_refuses
        test_cli_process.py::TestStreams::test_a_closed_pipe_ends_quietly
        test_cli_process.py::TestStreams::test_no_escape_codes_in_a_pipe
        test_cli_terminal.py::test_a_dumb_terminal_has_no_screen
        """,
    ),
    40: Case(
        "several profiles, and a broken one hides no other",
        """
        test_service_sqlite.py::test_profiles_are_listed_together_and_a_broken_one_hides_no_other
        test_cli_process.py::TestProfiles::test_all_profiles_and_an_empty_one_is_no_error
        test_cli_process.py::TestProfiles::test_profiles_and_doctor_name_the_folder_that_is_none
        test_widgets_conversations.py::test_with_several_profiles_every_row_says_which_is_its_own
        """,
    ),
    41: Case(
        "the command names profile and home",
        """
        test_storage_resume.py::test_the_profile_is_always_named
        test_storage_resume.py::test_the_root_is_added_only_where_hermes_would_find_another
        test_handover.py::test_the_command_arrives_as_it_is
        """,
    ),
    42: Case(
        "a link opens what it names, or says that it cannot",
        """
        test_service_sqlite.py::test_links_open_the_profile_they_name_and_bare_ids_the_opened_ones
        test_service_sqlite.py::test_links_to_nothing_and_path_tricks_are_refused
        test_screens_transcript.py::test_a_session_link_is_followed
        """,
    ),
    43: Case(
        "the directory of a session is Hermes' to restore",
        """
        test_storage_resume.py::test_a_directory_that_exists
        test_storage_resume.py::test_a_directory_that_is_gone
        test_storage_resume.py::test_no_directory
        """,
    ),
    44: Case(
        "one moment reads the same everywhere",
        """
        test_times.py::test_every_form_shows_the_same_wall_time
        test_times.py::test_both_sides_of_a_change_of_clocks_are_told_apart
        test_times.py::TestAgo::test_the_future_is_absolute
        """,
    ),
}
