"""Requests and answers over HTTP, one module a conversation.

Rules of the wire: names are snake_case; ids are strings; a time is RFC 3339 in UTC; a duration is
whole milliseconds and its name ends in `_ms`; a score is a JSON number in a request and a decimal
string in an answer. A request refuses fields it does not know; an answer may grow new ones.
"""
