/** `gatehouse export`: prints a server's configuration in the format of `gatehouse apply`, without secrets. */
import { closeSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import type { DataAt, ItemAt } from '../../client/paths.ts';
import { StartupError } from '../../core/startup-error.ts';
import type { ManagedApp } from './find.ts';
import { type RemoteCall, remoteCommand } from './remote-command.ts';
import { jsonText } from '../sanitize.ts';

type Key = ItemAt<'/api/applications/{id}/api-keys'>;
type Grant = ItemAt<'/api/applications/{id}/roles'>;
type User = ItemAt<'/api/applications/{id}/users'>;
type Provider = DataAt<'/api/applications/{id}/identity-provider', 'get'>;
type OpenIdSettings = DataAt<'/api/applications/{id}/openid', 'get'>;
type Fields = Readonly<Record<string, unknown>>;

/** Roles that every new application has. */
const STANDARD_ROLES = ['user', 'developer'];

const KEY_FIELDS = ['name', 'access', 'expiresAt', 'rateLimits'] as const;

const SCHEMA = 'gatehouse.schema.json';

export const exportCommand = remoteCommand({
  name: 'export',
  summary: 'Print the configuration in the format of apply',
  isForPeople: true,
  options: {
    out: { value: 'FILE', meaning: 'Write to this file instead of standard output.' },
    workspace: { value: 'ID', meaning: 'Workspace, for members of several.' },
  },
  switches: { users: 'Include all users and allowlists.' },
  next: [
    'Secrets are omitted: the file names the variables that provide them when it is',
    'applied. Archived and deleted applications and device keys are omitted, too.',
    '',
    'Example: gatehouse export --users --out shop.json',
    '',
    'Next: gatehouse apply shop.json --dry-run',
  ],
  async execute(call) {
    const { terminal } = call;
    const file = call.text('out');
    const names = new VariableNames();
    if (file === undefined) await writeDocument(call, names, terminal.out);
    else {
      await writeComplete(file, (write) => writeDocument(call, names, write));
      terminal.err(`${file} is written.\n`);
    }
    if (names.all.length > 0) terminal.err(`Set these variables when applying it: ${names.all.join(', ')}\n`);
  },
});

class VariableNames {
  readonly all: string[] = [];

  suggest(...words: string[]): { env: string } {
    const base = words
      .join('_')
      .toUpperCase()
      .replace(/[^A-Z0-9]+/g, '_')
      .replace(/^_+|_+$/g, '')
      // The prefix GATEHOUSE_ is reserved for server settings.
      .replace(/^(?=\d|GATEHOUSE_)/, 'APP_')
      .slice(0, 90);
    let name = base;
    for (let number = 2; this.all.includes(name); number += 1) name = `${base}_${number}`;
    this.all.push(name);
    return { env: name };
  }
}

type Write = (text: string) => Promise<void> | void;

/** Writes a temporary file and renames it when complete, so that an export is never half there. */
async function writeComplete(file: string, produce: (write: Write) => Promise<void>): Promise<void> {
  const temporary = `${file}.partial`;
  const attempt = <Result>(work: () => Result): Result => {
    try {
      return work();
    } catch (error) {
      throw new StartupError(`${file} cannot be written (${(error as NodeJS.ErrnoException).code}).`);
    }
  };
  // Removes the leftover of an earlier export. `wx` refuses a file or link created between the two calls.
  attempt(() => rmSync(temporary, { force: true }));
  const descriptor = attempt(() => openSync(temporary, 'wx', 0o600));
  try {
    await produce((text) => attempt(() => void writeSync(descriptor, text))).finally(() => closeSync(descriptor));
    attempt(() => renameSync(temporary, file));
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

async function writeDocument(call: RemoteCall, names: VariableNames, write: Write): Promise<void> {
  const { client, isOn, text } = call;
  const workspaces = (await client.get('/api/workspaces')).items;
  const workspaceId = text('workspace') ?? (workspaces.length > 1 ? workspaces[0]?.id : undefined);
  const slugs = new Map<string, string>();
  await write(`{\n  "$schema": ${JSON.stringify(SCHEMA)},\n  "applications": [`);
  for await (const application of client.all('/api/applications')) {
    if (application.archivedAt !== null || application.deletedAt !== null) continue;
    if (workspaceId !== undefined && application.workspaceId !== workspaceId) continue;
    const described = await describe(call, names, application);
    const body = jsonText(described, 2).replaceAll('\n', '\n    ');
    // Writes each application as it is read, because users can be many.
    await write(`${slugs.size > 0 ? ',' : ''}\n    ${body.slice(0, -'\n    }'.length)}`);
    slugs.set(application.id, application.slug);
    if (isOn('users')) await writePeople(call, application, write);
    await write('\n    }');
  }
  await write(slugs.size > 0 ? '\n  ]' : ']');
  const keys = workspaces.length > 0 ? await workspaceKeys(call, names, slugs, workspaceId) : [];
  if (keys.length > 0) await write(`,\n  "apiKeys": ${jsonText(keys, 2).replaceAll('\n', '\n  ')}`);
  await write('\n}\n');
}

async function describe(
  { client, terminal }: RemoteCall,
  names: VariableNames,
  application: ManagedApp,
): Promise<Fields> {
  const { id, slug } = application;
  const path = { id };
  const [roles, scopes, groups, webhooks, keys] = [
    await Array.fromAsync(client.all('/api/applications/{id}/roles', { path })),
    await Array.fromAsync(client.all('/api/applications/{id}/scopes', { path })),
    await Array.fromAsync(client.all('/api/applications/{id}/memberships', { path })),
    await Array.fromAsync(client.all('/api/applications/{id}/webhooks', { path })),
    await Array.fromAsync(client.all('/api/applications/{id}/api-keys', { path, query: { source: 'api' } })),
  ];
  const provider = await client.get('/api/applications/{id}/identity-provider', { path });
  const openid = await client.get('/api/applications/{id}/openid', { path });
  return withoutEmpty({
    ...pick(application, 'slug', 'name', 'stage', 'signinGate', 'betaRequestPolicy', 'signinMethods'),
    ...pick(application, 'sessionTtlSeconds', 'returnUrls', 'legalUrls', 'branding', 'account'),
    identityProvider: provider.source === 'application' ? providerOf(provider, names, slug) : undefined,
    openid: openid.updatedAt === null ? undefined : openIdOf(openid),
    roles: roles.map(grantOf),
    standardRoles: STANDARD_ROLES.every((slug) => roles.some((role) => role.slug === slug)) ? undefined : false,
    scopes: listOf(scopes.map(grantOf)),
    groups: listOf(groups.map(grantOf)),
    webhooks: listOf(
      webhooks.map((webhook) =>
        withoutEmpty({
          ...pick(webhook, 'url', 'events', 'description'),
          status: webhook.status === 'disabled' ? webhook.status : undefined,
          secret: names.suggest(slug, 'webhook', 'secret'),
        }),
      ),
    ),
    apiKeys: listOf(
      activeKeys(keys, terminal.now()).map((key) =>
        withoutEmpty({
          ...pick(key, ...KEY_FIELDS),
          roles: listOf(key.roles),
          scopes: listOf(key.scopes),
          groups: listOf(key.memberships),
          token: names.suggest(slug, key.name, 'key'),
        }),
      ),
    ),
  });
}

async function workspaceKeys(
  { client, terminal }: RemoteCall,
  names: VariableNames,
  slugs: ReadonlyMap<string, string>,
  workspaceId: string | undefined,
): Promise<Fields[]> {
  const query = { source: 'api' as const, ...(workspaceId !== undefined && { workspaceId }) };
  const keys = await Array.fromAsync(client.all('/api/workspace/api-keys', { query }));
  return activeKeys(keys, terminal.now()).flatMap((key): Fields[] => {
    const applications = key.applicationIds?.flatMap((id) => slugs.get(id) ?? []);
    // Skips a key whose applications are all left out: without the list it would apply to all of them.
    if (applications?.length === 0) return [];
    const token = names.suggest(key.name, 'key');
    return [withoutEmpty({ ...pick(key, ...KEY_FIELDS), applications, token })];
  });
}

/** Returns keys oldest first, without the environment's, device-bound, rotated and ended ones. */
function activeKeys<Row extends Key>(keys: readonly Row[], now: number): Row[] {
  const isActive = ({ source, deviceKeyId, revokedAt, rotatedToId, expiresAt }: Key) =>
    source !== 'environment' &&
    deviceKeyId === null &&
    revokedAt === null &&
    rotatedToId === null &&
    (expiresAt === null || Date.parse(expiresAt) > now);
  return keys.filter(isActive).reverse();
}

function grantOf(grant: Grant): Fields {
  return withoutEmpty(pick(grant, 'slug', 'name', 'description', 'isDefault'));
}

function openIdOf(openid: OpenIdSettings): Fields {
  const fields = pick(openid, 'redirectUris', 'clientType', 'idTokenAlg', 'jwks', 'backchannelLogoutUri');
  return withoutEmpty({ ...fields, postLogoutRedirectUris: listOf(openid.postLogoutRedirectUris) });
}

function providerOf(provider: Provider, names: VariableNames, slug: string): Fields {
  const clientSecret = names.suggest(slug, 'provider', 'secret');
  return withoutEmpty({ ...pick(provider, 'issuer', 'clientId', 'name'), clientSecret });
}

async function writePeople({ client, terminal }: RemoteCall, { id, slug }: ManagedApp, write: Write): Promise<void> {
  const path = { id };
  const listed = client.all('/api/applications/{id}/beta-interests', { path, query: { status: 'approved' } });
  const emails = (await Array.fromAsync(listed)).reverse().map(({ email }) => email);
  await writeList('allowlist', emails, write);
  const query = { sort: 'joined', include: 'profile,metadata' } as const;
  let leftOut = 0;
  const users = client.all('/api/applications/{id}/users', { path, query });
  async function* kept(): AsyncGenerator<Fields> {
    for await (const user of users) {
      // Leaves out blocked users, who would be let in where the file is applied.
      if (['banned', 'paused', 'deleted'].includes(user.status)) leftOut += 1;
      else yield userOf(user);
    }
  }
  await writeList('users', kept(), write);
  if (leftOut > 0) terminal.err(`${slug}: ${leftOut} banned, paused or deleted users were left out.\n`);
}

async function writeList(name: string, items: Iterable<unknown> | AsyncIterable<unknown>, write: Write): Promise<void> {
  let isFirst = true;
  for await (const item of items) {
    await write(`${isFirst ? `,\n      "${name}": [` : ','}\n        ${jsonText(item)}`);
    isFirst = false;
  }
  if (!isFirst) await write('\n      ]');
}

function userOf({ email, externalId, metadata, username, roles, scopes, memberships, profile }: User): Fields {
  return withoutEmpty({
    email,
    externalId,
    ...(metadata && Object.keys(metadata).length > 0 && { metadata }),
    username,
    ...(profile && pick(profile, 'givenName', 'familyName', 'fullName', 'locale', 'timezone')),
    languages: listOf(profile?.languages),
    roles: listOf(roles),
    scopes: listOf(scopes),
    groups: listOf(memberships),
  });
}

const listOf = <Item>(items: readonly Item[] | undefined) => (items && items.length > 0 ? items : undefined);

function pick<Row, Name extends keyof Row>(row: Row, ...names: readonly Name[]): Pick<Row, Name> {
  return Object.fromEntries(names.map((name) => [name, row[name]])) as Pick<Row, Name>;
}

function withoutEmpty(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined));
}
