/** Routes of a person's own profile: identity, username in the application, and region. */
import { RegionSchema } from '../../http/schemas.ts';
import { type Operation, operation } from '../../http/operation.ts';
import { collectionRoutes } from './collection-routes.ts';
import {
  Identity,
  IdentityPatch,
  RegionInput,
  Username,
  UsernameInput,
  UsernameQuery,
  UsernameState,
} from './model.ts';
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
      summary: 'My names, language and time zone',
      data: Identity,
      handle: ({ principal }) => identities.get(principal),
    }),
    operation({
      ...common,
      id: 'updateIdentity',
      method: 'PATCH',
      path: identityPath,
      summary: 'Change my names, language or time zone',
      description: 'A field that is left out stays as it is; null or blank clears it. Answers the whole identity.',
      body: IdentityPatch,
      data: Identity,
      handle: ({ actor, principal, body }) => identities.update(actor, principal, body),
    }),
    operation({
      ...common,
      id: 'changeUsername',
      method: 'PATCH',
      path: '/api/account/username',
      summary: 'Choose my username in this application, or give it up',
      description: 'The application of the session; the names in other applications are not touched.',
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
      summary: 'Whether I could have a username in this application now',
      description: 'Writes nothing and reserves nothing. My own name is available to me.',
      query: UsernameQuery,
      data: UsernameState,
      handle: ({ principal, query }) => usernames.check(principal, query.username),
    }),
    operation({
      ...common,
      id: 'getRegion',
      method: 'GET',
      path: regionPath,
      summary: 'My region; null where I gave none',
      data: RegionSchema,
      handle: ({ principal }) => regions.get(principal),
    }),
    operation({
      ...common,
      id: 'replaceRegion',
      method: 'PUT',
      path: regionPath,
      summary: 'Put my region as a whole',
      description: 'What is left out becomes null. A region of nothing but nulls is null.',
      body: RegionInput,
      data: RegionSchema,
      handle: ({ actor, principal, body }) => regions.replace(actor, principal, body),
    }),
    operation({
      ...common,
      id: 'updateRegion',
      method: 'PATCH',
      path: regionPath,
      summary: 'Change parts of my region',
      description: 'What is left out stays as it is; null or blank clears it. A region of nothing but nulls is null.',
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
