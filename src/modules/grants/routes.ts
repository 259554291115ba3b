/** Roles, scopes and membership groups: the same four operations for each. */
import { type Payload, type Operation, operation } from '../../http/operation.ts';
import type { GrantKind } from '../../store/grants.ts';
import { GRANT_NAMES } from './kinds.ts';
import { GrantForceQuery, GrantSchema, GrantInput, GrantPage, GrantPatch, GrantRemoved, GrantsQuery } from './model.ts';
import type { GrantService } from './service.ts';

/** Names in paths and operation ids. */
const NAMES = {
  roles: { tag: 'Roles', singular: 'Role', parameter: 'roleId' },
  scopes: { tag: 'Scopes', singular: 'Scope', parameter: 'scopeId' },
  memberships: { tag: 'Membership groups', singular: 'MembershipGroup', parameter: 'membershipId' },
} as const satisfies Record<GrantKind, { tag: string; singular: string; parameter: string }>;

const GIVEN_TO_NEWCOMERS: Payload = {
  words: 'A default is given to everybody who joins from then on.',
  fields: ['isDefault'],
};

export function grantRoutes(kind: GrantKind, grants: GrantService): Operation[] {
  const { tag, singular, parameter } = NAMES[kind];
  const { noun } = GRANT_NAMES[kind];
  const path = `/api/applications/:id/${kind}`;
  const common = { tag, scope: 'application', limit: 'key' } as const;
  return [
    operation({
      ...common,
      id: `list${singular}s`,
      method: 'GET',
      path,
      summary: `List the ${noun}s of an application`,
      access: 'read',
      query: GrantsQuery,
      data: GrantPage,
      errors: ['invalid_cursor'],
      handle: ({ application, query }) => grants.list(application, query),
    }),
    operation({
      ...common,
      id: `create${singular}`,
      method: 'POST',
      path,
      summary: `Create a ${noun}`,
      gives: GIVEN_TO_NEWCOMERS,
      access: 'full',
      body: GrantInput,
      data: GrantSchema,
      errors: ['conflict'],
      handle: ({ actor, application, body }) => grants.create(actor, application, body),
    }),
    operation({
      ...common,
      id: `update${singular}`,
      method: 'PATCH',
      path: `${path}/:${parameter}`,
      summary: `Change a ${noun}`,
      gives: GIVEN_TO_NEWCOMERS,
      description: 'Changing the slug while somebody holds it is 409 `conflict` without `?force=true`.',
      access: 'full',
      query: GrantForceQuery,
      body: GrantPatch,
      data: GrantSchema,
      errors: ['conflict'],
      handle: ({ actor, application, params, query, body }) =>
        grants.update(actor, application, params[parameter], body, query.force ?? false),
    }),
    operation({
      ...common,
      id: `delete${singular}`,
      method: 'DELETE',
      path: `${path}/:${parameter}`,
      summary: `Delete a ${noun}`,
      description: 'While somebody holds it, 409 `conflict` without `?force=true`, which takes it away from everyone.',
      access: 'full',
      query: GrantForceQuery,
      data: GrantRemoved,
      errors: ['conflict'],
      handle: ({ actor, application, params, query }) =>
        grants.remove(actor, application, params[parameter], query.force ?? false),
    }),
  ];
}
