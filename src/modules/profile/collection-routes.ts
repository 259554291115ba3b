/** Routes of a profile's collections: addresses, legal entities and languages. */
import { LanguageSchema } from '../../http/schemas.ts';
import { invalidField } from '../../core/error.ts';
import { type Operation, operation } from '../../http/operation.ts';
import {
  Address,
  AddressInput,
  AddressPage,
  AddressPatch,
  AddressQuery,
  CodeInput,
  CodeQuery,
  Entity,
  EntityInput,
  EntityPage,
  EntityPatch,
  IdInput,
  IdQuery,
  LanguageInput,
  LanguagePage,
  MAX_ENTRIES,
  EntryRemoved,
  LanguageRemoved,
} from './model.ts';
import type { Profiles } from './service.ts';

const common = { tag: 'Account', access: 'session', scope: 'instance', limit: 'session' } as const;

const ONE_PAGE = `There are at most ${MAX_ENTRIES}, so one page holds them all.`;
const IN_SIGHT =
  'Those given in the session’s workspace; from the console, and for ten minutes after a proof (`POST /api/account/proof`), all. In a workspace';
const IN_PLACE = `${IN_SIGHT} there are at most ${MAX_ENTRIES}, so one page holds them.`;
const ELSEWHERE = 'One added in another workspace needs a proof of the last ten minutes.';
const PATCHED = 'Omitted fields stay unchanged; null or blank clears an optional field.';

export function collectionRoutes({
  addresses,
  entities,
  languages,
}: Pick<Profiles, 'addresses' | 'entities' | 'languages'>): Operation[] {
  const ofAddresses = { ...common, path: '/api/account/profile/addresses' } as const;
  const ofEntities = { ...common, path: '/api/account/profile/entities' } as const;
  const ofLanguages = { ...common, path: '/api/account/profile/languages' } as const;
  return [
    operation({
      ...ofAddresses,
      id: 'listAddresses',
      method: 'GET',
      summary: 'List my addresses, oldest first',
      description: IN_PLACE,
      query: AddressQuery,
      data: AddressPage,
      handle: ({ principal, query }) => addresses.list(principal, query),
    }),
    operation({
      ...ofAddresses,
      id: 'createAddress',
      method: 'POST',
      summary: 'Add an address',
      description: `At most ${MAX_ENTRIES} in a workspace. The first of a kind becomes its default.`,
      body: AddressInput,
      data: Address,
      errors: ['invalid_state'],
      handle: ({ actor, principal, body }) => addresses.add(actor, principal, body),
    }),
    operation({
      ...ofAddresses,
      id: 'updateAddress',
      method: 'PATCH',
      summary: 'Change an address',
      description: `${PATCHED} The default of a kind stays until another address is made the default. ${ELSEWHERE}`,
      body: AddressPatch,
      data: Address,
      errors: ['not_found', 'reauthentication_required'],
      handle: ({ actor, principal, body }) => addresses.update(actor, principal, body),
    }),
    operation({
      ...ofAddresses,
      id: 'deleteAddress',
      method: 'DELETE',
      summary: 'Delete an address',
      description: `Send the id in the body or in the query. The oldest of the kind replaces a deleted default; legal entities with this address have none from then on. ${ELSEWHERE}`,
      query: IdQuery,
      body: IdInput,
      isBodyOptional: true,
      data: EntryRemoved,
      errors: ['not_found', 'reauthentication_required'],
      handle: ({ actor, principal, query, body }) => addresses.remove(actor, principal, named('id', query, body)),
    }),
    operation({
      ...ofEntities,
      id: 'listLegalEntities',
      method: 'GET',
      summary: 'List my legal entities, oldest first',
      description: IN_PLACE,
      data: EntityPage,
      handle: ({ principal }) => entities.list(principal),
    }),
    operation({
      ...ofEntities,
      id: 'createLegalEntity',
      method: 'POST',
      summary: 'Add a legal entity',
      description: `At most ${MAX_ENTRIES} in a workspace.`,
      body: EntityInput,
      data: Entity,
      errors: ['invalid_state'],
      handle: ({ actor, principal, body }) => entities.add(actor, principal, body),
    }),
    operation({
      ...ofEntities,
      id: 'updateLegalEntity',
      method: 'PATCH',
      summary: 'Change a legal entity',
      description: `${PATCHED} ${ELSEWHERE}`,
      body: EntityPatch,
      data: Entity,
      errors: ['not_found', 'reauthentication_required'],
      handle: ({ actor, principal, body }) => entities.update(actor, principal, body),
    }),
    operation({
      ...ofEntities,
      id: 'deleteLegalEntity',
      method: 'DELETE',
      summary: 'Delete a legal entity',
      description: `Send the id in the body or in the query. ${ELSEWHERE}`,
      query: IdQuery,
      body: IdInput,
      isBodyOptional: true,
      data: EntryRemoved,
      errors: ['not_found', 'reauthentication_required'],
      handle: ({ actor, principal, query, body }) => entities.remove(actor, principal, named('id', query, body)),
    }),
    operation({
      ...ofLanguages,
      id: 'listLanguages',
      method: 'GET',
      summary: 'List my languages, by tag',
      description: ONE_PAGE,
      data: LanguagePage,
      handle: ({ principal }) => languages.list(principal),
    }),
    operation({
      ...ofLanguages,
      id: 'createLanguage',
      method: 'POST',
      summary: 'Add a language',
      description: `At most ${MAX_ENTRIES}. Adding a listed language with the same level changes nothing.`,
      body: LanguageInput,
      data: LanguageSchema,
      errors: ['conflict', 'invalid_state'],
      handle: ({ actor, principal, body }) => languages.add(actor, principal, body),
    }),
    operation({
      ...ofLanguages,
      id: 'updateLanguage',
      method: 'PATCH',
      summary: 'Change the level of a language',
      body: LanguageInput,
      data: LanguageSchema,
      errors: ['not_found'],
      handle: ({ actor, principal, body }) => languages.update(actor, principal, body),
    }),
    operation({
      ...ofLanguages,
      id: 'deleteLanguage',
      method: 'DELETE',
      summary: 'Delete a language',
      description: 'Send the code in the body or in the query.',
      query: CodeQuery,
      body: CodeInput,
      isBodyOptional: true,
      data: LanguageRemoved,
      errors: ['not_found'],
      handle: ({ actor, principal, query, body }) => languages.remove(actor, principal, named('code', query, body)),
    }),
  ];
}

/** Reads the id from query or body: not every client sends a body with DELETE. @throws {AppError} invalid_request */
function named<Field extends string>(
  field: Field,
  query: { readonly [Name in Field]?: string },
  body: { readonly [Name in Field]?: string },
): string {
  if (query[field] !== undefined && body[field] !== undefined && query[field] !== body[field])
    throw invalidField(field, 'The query and the body name different ones; name one.');
  const value = body[field] ?? query[field];
  if (value === undefined) throw invalidField(field, 'This field is required, in the body or in the query.');
  return value;
}
