"""The reviewer's screens: compose, bind, start workers."""
