/** The MCP server as its clients see it: the official client over HTTP against one instance. */
import { afterAll, describe, expect, test } from 'bun:test';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { GUIDES } from '@/modules/docs/guides.ts';
import { findConsole } from '@/store/applications.ts';
import { FAMILIES } from '@/modules/mcp/families.ts';
import { isTool } from '@/modules/mcp/tools.ts';
import * as given from '../../support/given.ts';
import { sceneOf } from '../devices/scene.ts';
import { createInstance } from '../../support/instance.ts';
import { dumpTables } from '../../support/stored.ts';

const instance = await createInstance();
const { operations } = instance.app;
const shop = await instance.createApplication({ name: 'Shop' });
const other = await given.tenant(instance);
const listener = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: (request) => instance.app.fetch(request) });
const address = new URL('/mcp', listener.url);
const clients: Client[] = [];

afterAll(async () => {
  await Promise.all(clients.map((client) => client.close()));
  await listener.stop(true);
  await instance.services.stop();
});

async function connect(token: string, query = '?tools=all'): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  const headers = { Authorization: `Bearer ${token}` };
  const transport = new StreamableHTTPClientTransport(new URL(query, address), { requestInit: { headers } });
  await client.connect(transport as Parameters<typeof client.connect>[0]);
  clients.push(client);
  return client;
}

interface Result {
  readonly isError?: boolean;
  readonly structuredContent: Record<string, any>;
  readonly texts: string[];
}

async function call(client: Client, name: string, args: Record<string, unknown> = {}): Promise<Result> {
  const result = await client.callTool({ name, arguments: args });
  const texts = (result.content as { text: string }[]).map(({ text }) => text);
  return { ...result, texts } as unknown as Result;
}

const ACCEPT = { accept: 'application/json, text/event-stream' };

/** Sends one message without a client library. */
const post = (body: unknown, token: string | undefined, headers: Record<string, string> = {}) =>
  instance.call('POST', '/mcp', { token, body, headers: { ...ACCEPT, ...headers } });

const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list' };

const agent = await connect(instance.workspaceKey, '');
const { tools: families } = await agent.listTools();
const full = await connect(instance.workspaceKey);
const { tools } = await full.listTools();
const named = (name: string) => tools.find((tool) => tool.name === name)!;

describe('a connection', () => {
  test('returns the server’s name and how to begin', () => {
    expect(full.getServerVersion()).toMatchObject({ name: 'gatehouse', title: 'Gatehouse' });
    expect(full.getServerCapabilities()).toEqual({ tools: {}, resources: {} });
    expect(full.getInstructions()).toContain('Start with listApplications');
  });

  test('needs a key: missing, malformed and revoked keys are refused, with the way to sign in', async () => {
    const revoked = await given.revokedKey(instance, shop.id);
    const metadata = '/.well-known/oauth-protected-resource/mcp';
    for (const token of [undefined, 'nonsense', 'eak_nonsense', revoked.token]) {
      const { status, headers } = await post(LIST, token);
      expect([status, headers.get('www-authenticate')]).toEqual([
        401,
        `Bearer resource_metadata="http://localhost:8080${metadata}"`,
      ]);
    }
    expect((await instance.call('GET', metadata)).json.resource).toBe('http://localhost:8080/mcp');
  });

  test('accepts no session, not even an owner’s', async () => {
    const owner = await instance.signIn('console', 'owner@example.com');
    const bearer = await post(LIST, owner.token);
    expect([bearer.status, bearer.json.message]).toEqual([401, expect.stringContaining('eak_')]);
    const cookie = `gatehouse=${owner.token}`;
    expect((await post(LIST, undefined, { cookie, origin: 'http://localhost:8080' })).status).toBe(401);
  });

  test('is refused to pages of other origins with any key', async () => {
    const { status } = await post(LIST, instance.workspaceKey, { origin: 'https://evil.example' });
    expect(status).toBe(403);
    expect((await post(LIST, instance.workspaceKey, { origin: 'http://localhost:8080' })).status).toBe(200);
  });

  test('offers no stream and keeps no session: GET and DELETE are not allowed', async () => {
    for (const method of ['GET', 'DELETE']) {
      const { status, headers } = await instance.call(method, '/mcp', {
        token: instance.workspaceKey,
        headers: ACCEPT,
      });
      expect([status, headers.get('allow'), headers.has('mcp-session-id')]).toEqual([405, 'POST', false]);
    }
  });

  test('refuses malformed messages, batches and unknown methods with the protocol’s errors', async () => {
    const refused = async (body: unknown, headers = {}) => {
      const { status, json } = await post(body, instance.workspaceKey, headers);
      return [status, json.error.code];
    };
    expect(await refused('{"broken')).toEqual([400, -32700]);
    expect(await refused({ jsonrpc: '2.0', hello: 1 })).toEqual([400, -32700]);
    for (const body of [[LIST, LIST], [], 'null', '7', '"text"']) expect(await refused(body)).toEqual([400, -32600]);
    expect(await refused('x'.repeat(1024 * 1024 + 1))).toEqual([413, -32600]);
    expect(await refused(LIST, { 'content-type': 'text/plain' })).toEqual([415, -32600]);
    expect(await refused(LIST, { accept: 'application/json' })).toEqual([406, -32000]);
    expect(await refused({ ...LIST, method: 'nothing/like-it' })).toEqual([200, -32601]);
    expect(await refused({ ...LIST, method: 'tools/call', params: { name: 'nothing' } })).toEqual([200, -32602]);
    expect(await refused({ ...LIST, method: 'tools/call', params: {} })).toEqual([200, -32602]);
  });
});

describe('the tools, one for each operation', () => {
  test('are the management operations that a key can call, and no others', () => {
    const expected = operations.filter((operation) => !operation.isUndocumented && isTool(operation));
    expect(tools.map(({ name }) => name).sort()).toEqual(expected.map(({ id }) => id).sort());
    for (const left of ['streamActivity', 'createWorkspace', 'putMyAvatar', 'verifyToken', 'callMcp', 'sendSignInCode'])
      expect(named(left)).toBeUndefined();
  });

  test('have the same effects as in the role manifest', async () => {
    const { json } = await instance.call('GET', '/openapi.roles.json');
    const entries = new Map(json.operations.map((entry: { operationId: string }) => [entry.operationId, entry]));
    for (const { name, annotations, inputSchema } of tools) {
      const { readOnly, destructive, confirm, idempotent, method } = entries.get(name) as any;
      expect([name, annotations]).toEqual([
        name,
        expect.objectContaining({
          readOnlyHint: readOnly,
          ...(!readOnly && { destructiveHint: destructive, idempotentHint: idempotent }),
        }),
      ]);
      expect([name, readOnly]).toEqual([name, method === 'GET']);
      expect([name, 'confirm' in inputSchema.properties!]).toEqual([name, confirm]);
    }
  });

  test('need confirmation wherever the console asks for it', () => {
    const asking = tools.filter(({ annotations }) => annotations!.destructiveHint).map(({ name }) => name);
    for (const name of [
      'deleteRole',
      'banUser',
      'deleteUser',
      'revokeWorkspaceKey',
      'rotateApplicationSecret',
      'confirmLifecycle',
    ])
      expect(asking).toContain(name);
    for (const name of ['createRole', 'unbanUser', 'updateApplication', 'listUsers'])
      expect(asking).not.toContain(name);
  });

  test('need confirmation for every change except these', () => {
    const silent = tools
      .filter(({ annotations, inputSchema }) => !annotations!.readOnlyHint && !('confirm' in inputSchema.properties!))
      .map(({ name }) => name);
    expect(silent.sort()).toEqual([
      'checkUsernames',
      'createApplication',
      'declineBetaInterest',
      'inviteUser',
      'recheckApplicationUrls',
      'redeliver',
      'releaseWebhook',
      'replayDeliveries',
      'sendLifecycleCode',
      'testMail',
      'testWebhook',
      'updateUser',
      'updateWorkspace',
    ]);
  });

  test('tools that return a secret all need confirmation', () => {
    const withSecret = operations.filter(
      (operation) =>
        !operation.isUndocumented &&
        isTool(operation) &&
        JSON.stringify(operation.data ?? {}).includes('eturned once, in plain text'),
    );
    expect(withSecret.map(({ id }) => id)).toContain('createApplicationKey');
    for (const { id, gives } of withSecret) expect([id, gives?.fields]).toEqual([id, undefined]);
    for (const { id, gives } of withSecret) expect([id, typeof gives?.words]).toEqual([id, 'string']);
  });

  test('refer to nothing outside themselves', () => {
    expect(JSON.stringify(tools)).not.toMatch(/"\$ref"|"\$id"|"examples"/);
    for (const { name } of tools) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
  });

  test('a read key’s tools only read, and an application key’s omit the workspace', async () => {
    const names = async (token: string) => (await (await connect(token)).listTools()).tools.map(({ name }) => name);
    const read = await names((await given.workspaceKey(instance, { access: 'read' })).token);
    expect(read.filter((name) => !named(name).annotations!.readOnlyHint)).toEqual([]);
    expect(read).toContain('listMembers');
    const ofShop = await names((await instance.createKey(shop.id)).token);
    expect(ofShop).toContain('deleteRole');
    const ofSubset = await names((await given.workspaceKey(instance, { applicationIds: [shop.id] })).token);
    expect(ofSubset).toEqual(ofShop);
    const ofWorkspace = operations.filter(({ scope }) => scope === 'workspace').map(({ id }) => id);
    expect(ofShop.filter((name) => ofWorkspace.includes(name))).toEqual([]);
  });
});

/** Characters in a token of JSON with English words, as measured with the o200k encoding. */
const CHARACTERS_PER_TOKEN = 4.3;

describe('the tools by default', () => {
  const family = (name: string) => families.find((tool) => tool.name === name)!;
  const actionsOf = (name: string) => (family(name).inputSchema.properties!['action'] as { enum: string[] }).enum;

  test('are at most 40, in under 8,000 tokens', () => {
    expect(families.length).toBeLessThanOrEqual(40);
    expect(JSON.stringify(families).length / CHARACTERS_PER_TOKEN).toBeLessThan(8000);
    expect(JSON.stringify(families)).not.toMatch(/"\$ref"|"\$id"|"examples"/);
  });

  test('do together what the tools of all operations do, each once', () => {
    const offered = families.flatMap(({ name, inputSchema }) =>
      'action' in inputSchema.properties! && FAMILIES.some((one) => one.name === name) ? actionsOf(name) : [name],
    );
    expect(offered.sort()).toEqual(tools.map(({ name }) => name).sort());
    for (const { name } of FAMILIES) expect(named(name)).toBeUndefined();
  });

  test('take every argument of their actions, and say which action takes which', () => {
    for (const { name, actions } of FAMILIES)
      for (const action of actions) {
        const { properties = {}, required = [] } = named(action).inputSchema;
        const known = Object.keys(family(name).inputSchema.properties!);
        const aliases = Object.entries(properties).filter(([, schema]) =>
          /^The same/.test((schema as any).description),
        );
        expect(known).toEqual(
          expect.arrayContaining(Object.keys(properties).filter((one) => !aliases.some(([alias]) => alias === one))),
        );
        const line = family(name)
          .description!.split('\n')
          .find((one) => one.startsWith(`${action}(`) || one.startsWith(`${action}*(`))!;
        for (const argument of required)
          expect([action, line.includes(argument) || family(name).inputSchema.required!.includes(argument)]).toEqual([
            action,
            true,
          ]);
        expect([action, line.startsWith(`${action}*`)]).toEqual([action, 'confirm' in properties]);
      }
  });

  test('only read if every action reads, and lose something if any does', () => {
    for (const { name, actions } of FAMILIES) {
      const hints = actions.map((action) => named(action).annotations!);
      const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = family(name).annotations!;
      expect([name, readOnlyHint]).toEqual([name, hints.every((hint) => hint.readOnlyHint)]);
      expect([name, destructiveHint ?? false]).toEqual([name, hints.some((hint) => hint.destructiveHint)]);
      expect([name, openWorldHint]).toEqual([name, hints.some((hint) => hint.openWorldHint)]);
      if (idempotentHint) expect([name, hints.every((hint) => hint.idempotentHint)]).toEqual([name, true]);
    }
  });

  test('are only those that read for a read key, and for an address with readonly', async () => {
    const readOnly = await connect(instance.workspaceKey, '?readonly=1');
    const reader = await connect((await given.workspaceKey(instance, { access: 'read' })).token, '');
    for (const client of [readOnly, reader]) {
      const { tools: shown } = await client.listTools();
      expect(shown.length).toBeGreaterThan(5);
      expect(shown.filter(({ annotations }) => !annotations!.readOnlyHint)).toEqual([]);
      for (const { name, inputSchema } of shown)
        for (const action of (inputSchema.properties!['action'] as { enum?: string[] } | undefined)?.enum ?? [])
          expect([name, action, named(action).annotations!.readOnlyHint]).toEqual([name, action, true]);
    }
    // Reading keys needs full access, so a Read key has no such tool.
    const names = async (client: Client) => (await client.listTools()).tools.map(({ name }) => name);
    expect(await names(readOnly)).toContain('readApiKeys');
    expect(await names(reader)).not.toContain('readApiKeys');
  });

  test('a key of an application sees no action on the workspace', async () => {
    const { tools: shown } = await (await connect((await instance.createKey(shop.id)).token, '')).listTools();
    const keys = shown.find(({ name }) => name === 'manageApiKeys')!;
    expect(JSON.stringify(keys)).toContain('createApplicationKey');
    expect(JSON.stringify(keys)).not.toContain('WorkspaceKey');
    expect(shown.map(({ name }) => name)).not.toContain('manageWorkspace');
  });

  test('an address with readonly refuses every change, also by the name of its operation', async () => {
    const readOnly = await connect(instance.workspaceKey, '?readonly=1');
    const before = dumpTables(instance);
    for (const [name, args] of [
      ['manageRoles', { action: 'createRole', id: shop.id, slug: 'never' }],
      ['createRole', { id: shop.id, slug: 'never' }],
      ['manageRoles', { action: 'deleteRole', id: shop.id, roleId: 'rol_x', confirm: true }],
    ] as const) {
      const { isError, structuredContent } = await call(readOnly, name, args);
      expect([name, isError, structuredContent['error']]).toEqual([name, true, 'forbidden']);
    }
    expect(dumpTables(instance)).toEqual(before);
    const { structuredContent } = await call(readOnly, 'readRoles', { action: 'listRoles', id: shop.id });
    expect(structuredContent['items'].length).toBeGreaterThan(0);
  });

  test('refuse an address that asks for something unknown', async () => {
    for (const query of ['?tools=some', '?readonly=maybe', '?tools=']) {
      const { status } = await instance.call('POST', `/mcp${query}`, {
        token: instance.workspaceKey,
        body: LIST,
        headers: ACCEPT,
      });
      expect([query, status]).toEqual([query, 400]);
    }
  });

  test('carry out the action that is named, and name what one takes', async () => {
    const args = { id: shop.id, slug: 'joined', name: 'Joined' };
    const created = await call(agent, 'manageRoles', { action: 'createRole', ...args });
    expect(created.structuredContent).toMatchObject({ slug: 'joined' });
    const roleId = created.structuredContent['id'];
    const asked = await call(agent, 'manageRoles', { action: 'deleteRole', id: shop.id, roleId });
    expect([asked.isError, asked.structuredContent['error']]).toEqual([true, 'confirmation_required']);
    expect(asked.texts[0]).toContain('call manageRoles again');
    const gift = await call(agent, 'manageRoles', { action: 'updateRole', id: shop.id, roleId, isDefault: true });
    expect(gift.structuredContent['error']).toBe('confirmation_required');
    const deleted = await call(agent, 'manageRoles', { action: 'deleteRole', id: shop.id, roleId, confirm: true });
    expect(deleted.isError).toBeUndefined();
  });

  test('refuse a missing or foreign action, and an argument of another action', async () => {
    const fields = async (args: Record<string, unknown>) => {
      const { isError, structuredContent } = await call(agent, 'manageRoles', { id: shop.id, ...args });
      expect([isError, structuredContent['error']]).toEqual([true, 'invalid_request']);
      return structuredContent['fields'].map(({ path }: { path: string }) => path);
    };
    for (const action of [undefined, 'banUser', 'constructor', 7, null])
      expect(await fields({ action })).toEqual(['action']);
    expect(await fields({ action: 'createRole', slug: 'x', scopeId: 'scp_x' })).toEqual(['scopeId']);
  });
});

describe('a refusal for a wrong id', () => {
  test('names the argument and the tool that finds the right one', async () => {
    const args = { id: shop.id, userId: 'mallory@example.com', confirm: true };
    const banned = await call(agent, 'manageUserStatus', { action: 'banUser', ...args });
    expect(banned.structuredContent).toMatchObject({
      error: 'not_found',
      fields: [{ path: 'userId', message: 'This is not the id of a user (usr_…): use listUsers with q.' }],
    });
    expect(banned.texts[0]).toContain('\nuserId: This is not the id of a user');
    const role = { id: 'shop', roleId: 'deputy', confirm: true };
    const { structuredContent } = await call(agent, 'manageRoles', { action: 'deleteRole', ...role });
    expect(structuredContent['fields']).toEqual([
      { path: 'id', message: 'This is not the id of an application (app_…): use listApplications.' },
      { path: 'roleId', message: 'This is not the id of a role (rol_…): use readRoles with action listRoles.' },
    ]);
  });

  test('names the operations themselves where each is a tool, and the list of the workspace for its keys', async () => {
    const { structuredContent } = await call(full, 'getWorkspaceKey', { keyId: 'backend' });
    expect(structuredContent['fields'][0].message).toEndWith('use listWorkspaceKeys.');
    const ofShop = await call(full, 'getApplicationKey', { id: shop.id, keyId: 'backend' });
    expect(ofShop.structuredContent['fields'][0].message).toEndWith('use listApplicationKeys.');
  });

  test('names every id if each could be right', async () => {
    const { structuredContent } = await call(agent, 'readUser', {
      action: 'getUser',
      id: shop.id,
      userId: 'usr_nobody',
    });
    expect(structuredContent['fields'].map(({ path }: { path: string }) => path)).toEqual(['id', 'userId']);
  });
});

describe('a call', () => {
  test('returns the operation’s data, also as text', async () => {
    const { structuredContent, texts } = await call(full, 'getApplication', { id: shop.id });
    expect(structuredContent).toMatchObject({ id: shop.id, name: 'Shop' });
    expect(JSON.parse(texts[0]!)).toEqual(structuredContent);
  });

  test('passes every argument in its place', async () => {
    const created = await call(full, 'createRole', { id: shop.id, slug: 'deputy', name: 'Deputy' });
    expect(created.structuredContent).toMatchObject({ slug: 'deputy' });
    const { id: roleId } = created.structuredContent;
    const { structuredContent } = await call(full, 'updateRole', { id: shop.id, roleId, name: 'Second' });
    expect(structuredContent).toMatchObject({ id: roleId, name: 'Second' });
    await call(full, 'deleteRole', { id: shop.id, roleId, force: true, confirm: true });
    const { structuredContent: left } = await call(full, 'listRoles', { id: shop.id, limit: 200 });
    expect(left['items'].map(({ slug }: { slug: string }) => slug)).not.toContain('deputy');
  });

  test('is recorded as the key’s, with request id and client address of the incoming call', async () => {
    const { headers, json } = await post(
      {
        ...LIST,
        method: 'tools/call',
        params: { name: 'createRole', arguments: { id: shop.id, slug: 'recorded', name: 'Recorded' } },
      },
      instance.workspaceKey,
      { 'x-forwarded-for': '198.51.100.1', 'x-request-id': 'req_made_up' },
    );
    expect(json.result.isError).toBeUndefined();
    const record = instance.sqlite.query('SELECT * FROM audit_records ORDER BY rowid DESC LIMIT 1').get();
    expect(record).toMatchObject({ request_id: headers.get('x-request-id'), ip: '203.0.113.7', actor_type: 'key' });
  });

  test('reads a long list page by page, with few items by default', async () => {
    const { token } = await instance.createKey(shop.id);
    const client = await connect(token);
    for (let count = 0; count < 27; count += 1)
      await instance.call('POST', `/api/applications/${shop.id}/scopes`, {
        token,
        body: { slug: `scope-${count}`, name: `Scope ${count}` },
      });
    const first = await call(client, 'listScopes', { id: shop.id });
    const { items, nextCursor } = first.structuredContent;
    expect([items.length, typeof nextCursor]).toEqual([25, 'string']);
    expect(first.texts[1]).toContain(`"cursor": ${JSON.stringify(nextCursor)}`);
    const rest = await call(client, 'listScopes', { id: shop.id, cursor: nextCursor });
    expect(rest.structuredContent['nextCursor']).toBeNull();
    expect(rest.texts.length).toBe(1);
    const ids = [...items, ...rest.structuredContent['items']].map(({ id }: { id: string }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.length).toBeGreaterThanOrEqual(27);
  });

  test('counts once against the key’s limits, and is refused with 429 beyond them', async () => {
    const { token } = await instance.createKey(shop.id, { rateLimits: { perMinute: 3, perDay: 100 } });
    const message = { ...LIST, method: 'tools/call', params: { name: 'listRoles', arguments: { id: shop.id } } };
    const answers = [];
    for (let count = 0; count < 4; count += 1) answers.push(await post(message, token));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
    expect(answers.slice(0, 3).map(({ headers }) => headers.get('ratelimit-remaining'))).toEqual(['2', '1', '0']);
    expect(answers[3]!.headers.get('retry-after')).toMatch(/^\d+$/);
    expect((await instance.call('GET', `/api/applications/${shop.id}/roles`, { token })).status).toBe(429);
  });

  test('a call for another tenant’s resources finds nothing', async () => {
    const client = await connect((await instance.createKey(shop.id)).token);
    for (const id of [other.application.id, 'app_nothing']) {
      const { isError, structuredContent, texts } = await call(client, 'listUsers', { id });
      expect([isError, structuredContent['error']]).toEqual([true, 'not_found']);
      expect(texts[0]).toStartWith('not_found: ');
    }
  });

  test('is authorised when it is made, not by the listed tools', async () => {
    const reader = await connect((await instance.createKey(shop.id, { access: 'read' })).token);
    const created = await call(reader, 'createRole', { id: shop.id, name: 'Never' });
    expect([created.isError, created.structuredContent['error']]).toEqual([true, 'admin_scope_required']);
    const members = await call(reader, 'listMembers');
    expect([members.isError, members.structuredContent['error']]).toEqual([true, 'forbidden']);
  });

  test('names the wrong arguments', async () => {
    const paths = async (name: string, args: Record<string, unknown>) => {
      const { isError, structuredContent } = await call(full, name, args);
      expect([isError, structuredContent['error']]).toEqual([true, 'invalid_request']);
      return structuredContent['fields'].map(({ path }: { path: string }) => path);
    };
    expect(await paths('createRole', { id: shop.id, slug: 'x', name: 7 })).toEqual(['name']);
    expect(await paths('listRoles', { id: shop.id, limit: 1000 })).toEqual(['limit']);
    expect(await paths('listRoles', { id: shop.id, colour: 'red', confirm: true })).toEqual(['colour', 'confirm']);
    expect(await paths('listRoles', {})).toEqual(['id']);
    expect(await paths('getUser', { id: shop.id, userId: { $ne: 1 } })).toEqual(['userId']);
  });

  test('is not run as a task, since no server state would hold it', async () => {
    const params = { name: 'createRole', arguments: { id: shop.id, slug: 'task', name: 'Task' }, task: { ttl: 1000 } };
    const { json } = await post({ ...LIST, method: 'tools/call', params }, instance.workspaceKey);
    expect(json.error.message).toEqual(expect.any(String));
    const { structuredContent } = await call(full, 'listRoles', { id: shop.id, limit: 200 });
    expect(structuredContent['items'].map(({ slug }: { slug: string }) => slug)).not.toContain('task');
  });

  test('cannot reach another operation through an id', async () => {
    for (const roleId of ['..', '.', '']) {
      const { isError, structuredContent } = await call(full, 'deleteRole', { id: shop.id, roleId, confirm: true });
      expect([isError, structuredContent['error']]).toEqual([true, 'invalid_request']);
    }
    for (const userId of ['../roles', '%2e%2e/roles', 'x?include=all', 'x#y', 'x/sessions']) {
      const { structuredContent } = await call(full, 'getUser', { id: shop.id, userId });
      expect([userId, structuredContent['error']]).toEqual([userId, 'not_found']);
    }
  });

  test('a call with a loss does nothing until it is confirmed', async () => {
    const { structuredContent: role } = await call(full, 'createRole', { id: shop.id, slug: 'doomed', name: 'Doomed' });
    const isThere = async () => {
      const { structuredContent } = await call(full, 'listRoles', { id: shop.id, limit: 200 });
      return structuredContent['items'].some(({ id }: { id: string }) => id === role['id']);
    };
    for (const confirm of [undefined, false, 'true', 1]) {
      const { isError, structuredContent, texts } = await call(full, 'deleteRole', {
        id: shop.id,
        roleId: role['id'],
        ...(confirm !== undefined && { confirm }),
      });
      expect([isError, structuredContent['error'], await isThere()]).toEqual([true, 'confirmation_required', true]);
      expect(texts[0]).toMatch(/^Nothing was done\. .*"confirm": true/);
    }
    const { isError } = await call(full, 'deleteRole', { id: shop.id, roleId: role['id'], confirm: true });
    expect([isError, await isThere()]).toEqual([undefined, false]);
  });

  test('a call that grants access or sends data away does nothing until it is confirmed', async () => {
    const owner = await instance.signIn('console', 'owner@example.com');
    const gifts: Record<string, Record<string, unknown>> = {
      createWorkspaceKey: { name: 'agent', access: 'full' },
      createApplicationKey: { id: shop.id, name: 'agent', access: 'full' },
      inviteMember: { email: 'eve@example.com', role: 'admin' },
      createWebhook: { id: shop.id, url: 'https://evil.example.com/hook', events: ['*'] },
      setUserRoles: { id: shop.id, userId: owner.userId, slugs: ['developer'] },
      importUsers: { id: shop.id, users: [{ email: 'eve@example.com', roleSlugs: ['developer'] }] },
    };
    const before = dumpTables(instance);
    for (const [name, given] of Object.entries(gifts)) {
      const { isError, structuredContent, texts } = await call(full, name, given);
      expect([name, isError, structuredContent['error']]).toEqual([name, true, 'confirmation_required']);
      expect(texts[0]).toMatch(/^Nothing was done\. .*"confirm": true/);
    }
    expect(dumpTables(instance)).toEqual(before);
    const made = await call(full, 'createApplicationKey', { ...gifts['createApplicationKey'], confirm: true });
    expect(made.structuredContent['token']).toStartWith('eak_');
  });

  test('needs confirmation only if it names the granting field', async () => {
    const plain = await call(full, 'createRole', { id: shop.id, slug: 'plain' });
    expect(plain.isError).toBeUndefined();
    const roleId = plain.structuredContent['id'];
    const asked = await call(full, 'updateRole', { id: shop.id, roleId, isDefault: true });
    expect(asked.structuredContent['error']).toBe('confirmation_required');
    const done = await call(full, 'updateRole', { id: shop.id, roleId, isDefault: true, confirm: true });
    expect(done.structuredContent['isDefault']).toBe(true);
    await call(full, 'deleteRole', { id: shop.id, roleId, confirm: true });
  });

  test('a call with a personal console key does what its person may', async () => {
    const { token } = await given.consoleMember(instance, 'reader@example.com', 'member');
    const console = await findConsole(instance.db.reader);
    const { token: personal } = await sceneOf(instance, console!).connect({ token });
    const client = await connect(personal);
    const { tools: shown } = await client.listTools();
    expect(shown.filter(({ annotations }) => !annotations!.readOnlyHint)).toEqual([]);
    expect((await call(client, 'getWorkspace')).structuredContent['id']).toBe(instance.workspaceId);
    expect((await call(client, 'createRole', { id: shop.id, name: 'X' })).structuredContent['error']).toBe(
      'admin_scope_required',
    );
  });
});

describe('the resources', () => {
  test('are the guides and the descriptions, each at its address', async () => {
    const { resources } = await full.listResources();
    const names = resources.map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining(['openapi.yaml', 'openapi.roles.json', ...GUIDES.map(({ slug }) => slug)]),
    );
    for (const { uri } of resources) {
      const { contents } = await full.readResource({ uri });
      expect([uri, (contents[0] as { text: string }).text.length > 50]).toEqual([uri, true]);
    }
    expect((await full.listResourceTemplates()).resourceTemplates).toEqual([]);
  });

  test('include no other address', async () => {
    for (const uri of ['file:///etc/passwd', 'http://localhost:8080/healthz', 'https://example.com/'])
      await expect(full.readResource({ uri })).rejects.toMatchObject({ code: -32002 });
  });
});

test('a stopping instance refuses calls with 503', async () => {
  const second = await createInstance();
  await second.services.stop();
  const { status, json } = await second.call('POST', '/mcp', {
    token: second.workspaceKey,
    body: LIST,
    headers: ACCEPT,
  });
  expect([status, json.error]).toEqual([503, 'unavailable']);
});
