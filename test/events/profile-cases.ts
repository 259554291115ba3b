/** Changes that people make to their own profile, and the events of their applications. */
import { type Answer } from '../support/instance.ts';
import { type Case, event, type World } from './world.ts';

const ADDRESS = { kind: 'billing', recipient: 'Ada', line1: '1 Square', city: 'London', country: 'GB' };
const ENTITY = { legalName: 'Engines Ltd', country: 'GB' };

export const account =
  (method: string, path: string, body?: unknown) =>
  ({ instance, ada }: World) =>
    instance.call(method, `/api/account/${path}`, { token: ada.token, body });

/** The id of what a case has created in its preparation. */
let madeId = '';
const made = (path: string, body: object) => async (world: World) => {
  madeId = (await account('POST', path, body)(world)).json.data.id;
};

/** A change of the profile, emitted to every application of the person. */
export function profile(
  operation: string,
  category: string,
  act: Case['act'],
  { name = '', changed, prepare }: { name?: string; changed?: string[]; prepare?: Case['prepare'] } = {},
): Case {
  const updated = ({ ada: { userId } }: World) => [
    event('user.profile_updated', { userId, name, categories: [category], ...(changed && { changed }) }),
  ];
  return {
    what: 'told to every application of the person',
    operation,
    act,
    emits: updated,
    elsewhere: updated,
    prepare,
  };
}

/** Creating, changing and deleting an entry of a profile's collection. */
function collection(noun: string, category: string, path: string, entry: object, patch: object): Case[] {
  const prepare = made(path, entry);
  return [
    profile(`create${noun}`, category, account('POST', path, entry)),
    profile(`update${noun}`, category, (world) => account('PATCH', path, { id: madeId, ...patch })(world), { prepare }),
    profile(`delete${noun}`, category, (world) => account('DELETE', path, { id: madeId })(world), { prepare }),
  ];
}

const SPOKEN = { code: 'fr', level: 'BASIC' };
const speaking = { prepare: account('POST', 'profile/languages', SPOKEN) };

/** A one-pixel GIF. */
const PICTURE = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');

const upload =
  (kind: string) =>
  async ({ instance, ada }: World): Promise<Answer> => {
    const response = await instance.app.fetch(
      new Request(`http://localhost/api/account/self/images/${kind}`, {
        method: 'PUT',
        headers: { authorization: `Bearer ${ada.token}`, 'content-type': 'image/gif' },
        body: PICTURE,
      }),
    );
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, json: JSON.parse(text) };
  };

/** Uploading and deleting a picture; its address differs in each application. */
function picture(kind: 'avatar' | 'banner', operationName: string, sizes: number[]): Case[] {
  const type = `user.${kind}_changed` as const;
  const put = (slugOf: (world: World) => string) => (world: World) => {
    const now = world.instance.clock.now();
    const { userId } = world.ada;
    const url = `http://localhost:8080/cdn/${slugOf(world)}/users/${userId}/${kind}-${sizes[1]}.webp?v=${now}`;
    return [event(type, { userId, url, sizes, updatedAt: new Date(now).toISOString() })];
  };
  const removed = ({ ada: { userId } }: World) => [event(type, { userId, url: null, sizes: null, updatedAt: null })];
  return [
    {
      what: `a new ${kind}, told to every application of the person with the address it has there`,
      operation: `putMy${operationName}`,
      act: upload(kind),
      emits: put(({ application }) => application.slug),
      elsewhere: put(({ other }) => other.slug),
    },
    {
      what: `a ${kind} removed`,
      operation: `deleteMy${operationName}`,
      prepare: upload(kind),
      act: account('DELETE', `self/images/${kind}`),
      emits: removed,
      elsewhere: removed,
    },
  ];
}

export const PROFILE_CASES: Case[] = [
  ...picture('avatar', 'Avatar', [128, 256, 1200]),
  ...picture('banner', 'Banner', [768, 1500, 2400]),
  profile('updateIdentity', 'identity', account('PATCH', 'profile/identity', { givenName: 'Ada', locale: null }), {
    name: 'Ada',
    changed: ['givenName'],
  }),
  ...collection('Address', 'addresses', 'profile/addresses', ADDRESS, { city: 'Paris' }),
  ...collection('LegalEntity', 'legal_entities', 'profile/entities', ENTITY, { taxId: '1' }),
  profile('createLanguage', 'languages', account('POST', 'profile/languages', SPOKEN)),
  profile(
    'updateLanguage',
    'languages',
    account('PATCH', 'profile/languages', { code: 'fr', level: 'FLUENT' }),
    speaking,
  ),
  profile('deleteLanguage', 'languages', account('DELETE', 'profile/languages?code=fr'), speaking),
  profile('replaceRegion', 'region', account('PUT', 'profile/region', { country: 'GB' })),
  profile('updateRegion', 'region', account('PATCH', 'profile/region', { currency: 'GBP' })),
  profile('deleteRegion', 'region', account('DELETE', 'profile/region'), {
    prepare: account('PUT', 'profile/region', { country: 'GB' }),
  }),
  {
    what: 'told to the application alone',
    operation: 'changeUsername',
    act: account('PATCH', 'username', { username: 'Ada' }),
    emits: ({ ada: { userId } }) => [
      event('user.username_changed', { userId, username: 'ada', previousUsername: null }),
    ],
  },
];
