/** A document with a resource of every kind, its application, and the check that a refusal changes nothing. */
import { expect } from 'bun:test';
import { systemRandom } from '@/core/random.ts';
import { mintSecret } from '@/core/secret.ts';
import { createInstance, type Instance } from '../../support/instance.ts';

export const KEY = mintSecret('apiKey', systemRandom);
export const OPS_KEY = mintSecret('apiKey', systemRandom);
const HOOK_SECRET = `whsec_${'a'.repeat(40)}`;
export const SECRETS = { SHOP_KEY: KEY, OPS_KEY, HOOK_SECRET, GOOGLE_SECRET: 'from-google' };

export const SHOP = {
  slug: 'shop',
  name: 'Shop',
  stage: 'live',
  signinGate: 'private_beta',
  betaRequestPolicy: 'auto_accept',
  returnUrls: ['https://shop.example.com/in'],
  legalUrls: { terms: 'https://shop.example.com/terms' },
  branding: { accentColor: '#3b5bdb', supportEmail: 'Help@shop.example.com' },
  signinMethods: ['otp'],
  sessionTtlSeconds: 3600,
  identityProvider: { clientId: 'shop-client', clientSecret: { env: 'GOOGLE_SECRET' } },
  openid: {
    redirectUris: ['https://shop.example.com/callback'],
    idTokenAlg: 'EdDSA',
    backchannelLogoutUri: 'https://shop.example.com/logout',
  },
  roles: [{ slug: 'buyer', name: 'Buyer', isDefault: true }, { slug: 'editor' }],
  scopes: [{ slug: 'orders:read' }],
  groups: [{ slug: 'pro', description: 'Paying' }],
  webhooks: [
    { url: 'https://shop.example.com/hook', events: ['*'], secret: { env: 'HOOK_SECRET' } },
    { url: 'https://shop.example.com/other', events: ['user.banned'], description: 'Bans' },
  ],
  apiKeys: [{ name: 'backend', access: 'read', roles: ['editor'], token: { env: 'SHOP_KEY' } }],
  allowlist: ['Grace@Example.com'],
  users: [
    { email: 'ada@example.com', username: 'ada', givenName: 'Ada', roles: ['editor'], groups: ['pro'] },
    { email: 'alan@example.com', languages: [{ code: 'en', level: 'NATIVE' }] },
  ],
};
export const DOCUMENT = {
  $schema: 'gatehouse.schema.json',
  applications: [SHOP],
  apiKeys: [{ name: 'ops', access: 'full', applications: ['shop'], token: { env: 'OPS_KEY' } }],
};

interface Options {
  readonly token?: string;
  readonly dryRun?: boolean;
  readonly secrets?: Record<string, string>;
}

export function apply(instance: Instance, document: unknown, { token, dryRun, secrets = SECRETS }: Options = {}) {
  return instance.call('POST', '/api/workspace/apply', {
    token: token ?? instance.workspaceKey,
    body: { document, secrets, ...(dryRun !== undefined && { dryRun }) },
  });
}

/** Returns the problems of a refusal by position. */
export async function refused(instance: Instance, document: unknown, options?: Options) {
  const before = tables(instance);
  const { status, json } = await apply(instance, document, options);
  expect([status, json.error]).toEqual([400, 'invalid_request']);
  expect(tables(instance)).toEqual(before);
  return Object.fromEntries(
    json.fields.map(({ path, message }: { path: string; message: string }) => [path, message]),
  ) as Record<string, string>;
}

const COUNTED = [
  'applications',
  'roles',
  'users',
  'application_users',
  'webhooks',
  'api_keys',
  'events',
  'audit_records',
];
export const tables = ({ sqlite }: Instance) =>
  COUNTED.map((name) => sqlite.query(`SELECT count(*) AS rows FROM ${name}`).get());

export const lines = (changes: { action: string; kind: string; name: string; fields: { field: string }[] }[]) =>
  changes.map(
    ({ action, kind, name, fields }) =>
      `${action === 'create' ? '+' : '~'} ${kind} ${name}${fields.map(({ field }) => ` ${field}`).join('')}`,
  );

export const shop = (changes: object) => ({ applications: [{ ...SHOP, ...changes }] });

export type Changes = Parameters<typeof lines>[0];

/** An instance with the applied document, and the id of its application. */
export async function applied() {
  const instance = await createInstance();
  const { status, json } = await apply(instance, DOCUMENT);
  expect([status, json.fields]).toEqual([200, undefined]);
  const list = await instance.call('GET', '/api/applications', { token: instance.workspaceKey });
  const id: string = list.json.data.items[0].id;
  const result: { changes: Changes; [field: string]: unknown } = json.data;
  return { instance, id, result };
}
