"""The reviewer's workstation and the lead's cockpit, in a terminal."""
