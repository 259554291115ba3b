/** What roles, scopes and membership groups have in common: three kinds of grant with the same columns and rules. */
import {
  applicationUserGroups,
  applicationUserRoles,
  applicationUserScopes,
  membershipGroups,
  roles,
  scopes,
} from '../../db/schema/users.ts';

export const GRANT_KINDS = {
  roles: {
    table: roles,
    holders: applicationUserRoles,
    grantId: applicationUserRoles.roleId,
    grantColumn: 'roleId',
    updatedAt: 'rolesUpdatedAt',
    idKind: 'role',
    audit: 'role',
    noun: 'role',
  },
  scopes: {
    table: scopes,
    holders: applicationUserScopes,
    grantId: applicationUserScopes.scopeId,
    grantColumn: 'scopeId',
    updatedAt: 'scopesUpdatedAt',
    idKind: 'scope',
    audit: 'scope',
    noun: 'scope',
  },
  memberships: {
    table: membershipGroups,
    holders: applicationUserGroups,
    grantId: applicationUserGroups.groupId,
    grantColumn: 'groupId',
    updatedAt: 'membershipsUpdatedAt',
    idKind: 'membershipGroup',
    audit: 'membership',
    noun: 'membership group',
  },
} as const;

export type GrantKind = keyof typeof GRANT_KINDS;

export const ALL_KINDS = Object.keys(GRANT_KINDS) as GrantKind[];

/** Slugs by kind. */
export type Grants = { readonly [Kind in GrantKind]: readonly string[] };

/** Ids by kind, of grants that are known to exist in the application. */
export type GrantIds = { readonly [Kind in GrantKind]: readonly string[] };

export const NO_GRANTS: GrantIds = { roles: [], scopes: [], memberships: [] };
