import { RegionSchema } from '../../http/schemas.ts';
import { IdentityPatch } from '../../http/identity-input.ts';
import { type Operation, operation } from '../../http/operation.ts';
import { collectionRoutes } from './collection-routes.ts';
import { Identity, RegionInput, Username, UsernameInput, UsernameQuery, UsernameState } from './model.ts';
import type { Profiles } from './service.ts';

const common = { tag: 'Account', access: 'session', scope: 'instance', limit: 'session' } as const;
const identityPath = '/api/account/profile/identity';
const regionPath = '/api/account/profile/region';

export function profileRoutes(profiles: Profiles): Operation[] {
  const { identities, usernames, regions } = profiles;
  return [
    operation({
      ...common,
      id: 'getIdentity',
      method: 'GET',
      path: identityPath,
      summary: 'Read my names, language and time zone',
      data: Identity,
      handle: ({ principal }) => identities.get(principal),
    }),
    operation({
      ...common,
      id: 'updateIdentity',
      method: 'PATCH',
      path: identityPath,
      summary: 'Change my names, language or time zone',
      description: 'Omitted fields stay unchanged; null or blank clears a field. Answers the whole identity.',
      body: IdentityPatch,
      data: Identity,
      handle: ({ actor, principal, body }) => identities.update(actor, principal, body),
    }),
    operation({
      ...common,
      id: 'changeUsername',
      method: 'PATCH',
      path: '/api/account/username',
      summary: 'Set or remove my username in this application',
      description: 'Applies to the session’s application; usernames in other applications stay.',
      body: UsernameInput,
      data: Username,
      errors: ['conflict'],
      handle: ({ actor, principal, body }) => usernames.change(actor, principal, body.username),
    }),
    operation({
      ...common,
      id: 'checkUsername',
      method: 'GET',
      path: '/api/account/username/check',
      summary: 'Check whether a username is available to me in this application',
      description: 'Reserves nothing. My own username counts as available.',
      query: UsernameQuery,
      data: UsernameState,
      handle: ({ principal, query }) => usernames.check(principal, query.username),
    }),
    operation({
      ...common,
      id: 'getRegion',
      method: 'GET',
      path: regionPath,
      summary: 'Read my region; null if not set',
      data: RegionSchema,
      handle: ({ principal }) => regions.get(principal),
    }),
    operation({
      ...common,
      id: 'replaceRegion',
      method: 'PUT',
      path: regionPath,
      summary: 'Replace my region',
      description: 'Omitted fields become null. A region with only nulls is null.',
      body: RegionInput,
      data: RegionSchema,
      handle: ({ actor, principal, body }) => regions.replace(actor, principal, body),
    }),
    operation({
      ...common,
      id: 'updateRegion',
      method: 'PATCH',
      path: regionPath,
      summary: 'Update my region',
      description: 'Omitted fields stay unchanged; null or blank clears a field. A region with only nulls is null.',
      body: RegionInput,
      data: RegionSchema,
      handle: ({ actor, principal, body }) => regions.update(actor, principal, body),
    }),
    operation({
      ...common,
      id: 'deleteRegion',
      method: 'DELETE',
      path: regionPath,
      summary: 'Clear my region',
      description: 'Idempotent; answers null.',
      data: RegionSchema,
      handle: ({ actor, principal }) => regions.clear(actor, principal),
    }),
    ...collectionRoutes(profiles),
  ];
}
