"""Who asks, as the credential says it: never as the body does."""

from __future__ import annotations

import msgspec

from shared.vocabulary import Role


class Grant(msgspec.Struct, frozen=True, kw_only=True):
    """One role, in one queue or (None) in every queue of the tenant."""

    role: Role
    queue: str | None = None


class Identity(msgspec.Struct, frozen=True, kw_only=True):
    """The principal behind a request; ids are the database's own."""

    principal_id: int
    tenant_id: int
    name: str
    key_id: str
    tenant: str = "default"
    grants: tuple[Grant, ...]

    def has(self, role: Role) -> bool:
        """Tell whether the principal holds `role` in any queue."""
        return any(grant.role == role for grant in self.grants)

    def may(self, role: Role, queue: str) -> bool:
        """Tell whether the principal holds `role` in `queue`."""
        return any(grant.role == role and grant.queue in (None, queue) for grant in self.grants)
