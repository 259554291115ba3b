/** An instance inside the test process: real services, real SQLite, a clock that the test moves, captured mail. */
import { Database as SqliteDatabase } from 'bun:sqlite';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pino from 'pino';
import { type App, createApp } from '../../src/app.ts';
import { type Config, loadConfig, type Mode } from '../../src/config.ts';
import { SYSTEM_ACTOR } from '../../src/core/actor.ts';
import { type AdjustableClock, adjustableClock, type Clock } from '../../src/core/clock.ts';
import { instanceKey } from '../../src/core/instance-key.ts';
import { systemRandom } from '../../src/core/random.ts';
import { mintSecret } from '../../src/core/secret.ts';
import type { Database } from '../../src/db/database.ts';
import { openData } from '../../src/dependencies.ts';
import { accessLog } from '../../src/http/access-log.ts';
import type { MailTransport } from '../../src/mail/transport.ts';
import type { GuardedFetch } from '../../src/outbound/guarded-fetch.ts';
import { BUSY_PATHS, type Seen } from '../../src/http/raw-path.ts';
import { createServices, type Services } from '../../src/services.ts';
import { type Application, findApplication } from '../../src/store/applications.ts';
import { openBeside, openTestDatabase, type TestDatabase } from './database.ts';
import { ENGINE } from './engine.ts';
import { makeRoomy } from './roomy-key.ts';

/** Returns how a listener sees a path without dots. */
export function seenAs(path: string): Seen {
  const [plain] = path.split('?');
  return BUSY_PATHS.find((busy) => busy === plain) ?? 'plain';
}

/** Monday noon, at the start of a minute, so that time windows are predictable. */
export const START = Date.parse('2026-03-02T12:00:00.000Z');

export interface Instance {
  readonly app: App;
  readonly services: Services;
  readonly db: Database;
  /** The test's own connection to the same file, to look at rows; `given.ts` sets scenes. */
  readonly sqlite: SqliteDatabase;
  readonly clock: AdjustableClock;
  readonly config: Config;
  readonly workspaceId: string;
  /** A full workspace key with high limits. */
  readonly workspaceKey: string;
  /** Every log line. */
  readonly logLines: string[];
  /** Client address of the requests. */
  peer: string;
  /** Sends one request; leaves an event stream as soon as it has begun. */
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  /** Creates a live application in the workspace. */
  createApplication(input?: Record<string, unknown>): Promise<Application>;
  createKey(
    applicationId: string,
    input?: Record<string, unknown>,
  ): Promise<{ id: string; userId: string; token: string }>;
  /** Signs in by code, as a page would. @returns the answer to the code. */
  trySignIn(clientId: string, email: string): Promise<Answer>;
  /** Signs in by code. Fails unless the sign-in succeeds. */
  signIn(clientId: string, email: string): Promise<{ token: string; userId: string; applicationId: string }>;
  /** Returns the code of the newest mail to an address. */
  codeFor(email: string): string;
  /** Returns types and data of the events emitted for an application, oldest first. */
  events(applicationId: string): { type: string; data: unknown }[];
  /** Returns the kinds of the audit records, oldest first. */
  auditKinds(applicationId?: string): string[];
  /** Opens another instance on the database, with the same key and clock. On PostgreSQL it has connections of its own. */
  sibling(changes?: Pick<InstanceOptions, 'leaseHolder' | 'mail' | 'outbound' | 'environment'>): Promise<Instance>;
  /** @param environment changed settings. */
  restart(
    environment?: Record<string, string>,
    changes?: Pick<InstanceOptions, 'leaseHolder' | 'mail'>,
  ): Promise<Instance>;
}

export interface CallOptions {
  readonly token?: string | undefined;
  /** An object is sent as JSON, a string unchanged. */
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint: each test checks the answer it asked for.
  readonly json: any;
}

export interface InstanceOptions {
  readonly mode?: Mode;
  readonly environment?: Record<string, string>;
  readonly mail?: MailTransport;
  readonly outbound?: GuardedFetch;
  readonly isStopping?: () => boolean;
  /** Two instances on one database have two holders. */
  readonly leaseHolder?: string;
  /** Keeps the workspace key's default limits. */
  readonly isKeyAsMade?: boolean;
  /** Base of the instance's clock, so that it can be set back; by default it stands still at `START`. */
  readonly time?: Clock;
}

/** Refuses every request; a test with outbound requests passes its own fetch. */
const refuseAll: GuardedFetch = async ({ url }) => {
  throw new Error(`the test did not expect a request to ${url}`);
};

export async function createInstance(options: InstanceOptions = {}): Promise<Instance> {
  const clock = adjustableClock(options.time ?? { now: () => START });
  const instance = await openInstance(options, await openTestDatabase(clock), clock, systemRandom.bytes(32));
  if (!options.isKeyAsMade) await makeRoomy(instance.db, instance.workspaceKey);
  return instance;
}

/** Creates an instance on its own data folder, as a server has it. Must be closed. */
export async function createInstanceOn(
  folder: string,
  options: InstanceOptions & { readonly maxCached?: number } = {},
): Promise<Instance & { close(): Promise<void> }> {
  const clock = adjustableClock(options.time ?? { now: () => START });
  const { maxCached } = options;
  const data = await openData(folder, { clock, isDurable: false, ...(maxCached !== undefined && { maxCached }) });
  const sqlite = new SqliteDatabase(join(folder, 'gatehouse.db'), { strict: true });
  const secret = Buffer.from(readFileSync(join(folder, 'instance.key'), 'utf8').trim(), 'base64url');
  const environment = { GATEHOUSE_DATA: folder, ...options.environment };
  const instance = await openInstance({ ...options, environment }, { db: data.db, sqlite }, clock, secret);
  await makeRoomy(instance.db, instance.workspaceKey);
  async function close(): Promise<void> {
    await instance.services.stop();
    sqlite.close();
    await data.close();
  }
  return Object.assign(instance, { close });
}

export async function openInstance(
  options: InstanceOptions,
  { db, sqlite }: Pick<TestDatabase, 'db' | 'sqlite'>,
  clock: AdjustableClock,
  secret: Uint8Array,
  workspaceKey = mintSecret('apiKey', systemRandom),
): Promise<Instance> {
  const config = loadConfig(
    { GATEHOUSE_OWNER_EMAIL: 'owner@example.com', GATEHOUSE_WORKSPACE_KEY: workspaceKey, ...options.environment },
    { mode: options.mode ?? 'normal' },
  );
  const logLines: string[] = [];
  const baseUrl = config.baseUrl ?? 'http://localhost:8080';
  const dependencies = {
    config,
    db,
    clock,
    random: systemRandom,
    instanceKey: instanceKey(secret),
    leaseHolder: options.leaseHolder ?? 'instance',
    mail: options.mail ?? { onCapture: null },
    outbound: options.outbound ?? refuseAll,
    log: pino({ level: 'debug' }, { write: (line: string) => void logLines.push(line) }),
    accessLog: accessLog((line) => void logLines.push(line)),
    baseUrl: () => baseUrl,
    peerAddress: () => instance.peer,
    keepOpen: () => {},
    isStopping: options.isStopping ?? (() => false),
    testClock: config.mode === 'ephemeral' ? clock : null,
  };
  const services = await createServices(dependencies);
  const app = createApp(dependencies, services);

  const instance: Instance = {
    app,
    services,
    db,
    sqlite,
    clock,
    config,
    workspaceId: services.workspaceId,
    workspaceKey,
    logLines,
    peer: '203.0.113.7',
    async call(method, path, { token, body, headers = {} } = {}) {
      const hasBody = body !== undefined;
      const response = await app.fetch(
        new Request(`http://localhost${path}`, {
          method,
          headers: {
            ...(hasBody && { 'content-type': 'application/json' }),
            ...(token !== undefined && { authorization: `Bearer ${token}` }),
            ...headers,
          },
          ...(hasBody && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
        }),
        seenAs(path),
      );
      const { status, headers: answered } = response;
      const type = answered.get('content-type') ?? '';
      const isEndless = type.startsWith('text/event-stream');
      if (isEndless) await response.body?.cancel();
      const text = isEndless ? '' : await response.text();
      const isJson = type.startsWith('application/json') && text !== '';
      return { status, headers: answered, text, json: isJson ? JSON.parse(text) : undefined };
    },
    async createApplication(input = {}) {
      const { applications } = services;
      const { id } = await applications.create(SYSTEM_ACTOR, services.workspaceId, { name: 'Shop', ...input });
      await applications.publish(SYSTEM_ACTOR, (await findApplication(db.reader, id))!);
      await applications.goLive(SYSTEM_ACTOR, (await findApplication(db.reader, id))!);
      return (await findApplication(db.reader, id))!;
    },
    async createKey(applicationId, input = {}) {
      const { json } = await instance.call('POST', `/api/applications/${applicationId}/api-keys`, {
        token: workspaceKey,
        body: { name: 'backend', access: 'full', rateLimits: { perMinute: 10_000, perDay: 1_000_000 }, ...input },
      });
      return json.data;
    },
    async trySignIn(clientId, email) {
      const sent = await instance.call('POST', '/api/v1/auth/otp/send', { body: { email, clientId } });
      return instance.call('POST', '/api/v1/auth/otp/verify', {
        body: { challengeId: sent.json.data.challengeId, code: instance.codeFor(email) },
      });
    },
    signIn: async (clientId, email) => (await instance.trySignIn(clientId, email)).json.data,
    codeFor(email) {
      const row = sqlite.query('SELECT code FROM mails WHERE recipient = ? ORDER BY rowid DESC LIMIT 1').get(email);
      return (row as { code: string }).code;
    },
    events(applicationId) {
      const rows = sqlite
        .query('SELECT type, data FROM events WHERE application_id = ? ORDER BY rowid')
        .all(applicationId);
      return (rows as { type: string; data: string }[]).map(({ type, data }) => ({ type, data: JSON.parse(data) }));
    },
    auditKinds(applicationId) {
      const ofApplication = sqlite.query('SELECT kind FROM audit_records WHERE application_id = ? ORDER BY rowid');
      const rows =
        applicationId === undefined
          ? sqlite.query('SELECT kind FROM audit_records ORDER BY rowid').all()
          : ofApplication.all(applicationId);
      return (rows as { kind: string }[]).map(({ kind }) => kind);
    },
    async sibling(changes = {}) {
      const environment = { ...options.environment, ...changes.environment };
      const own = ENGINE === 'postgres' ? await openBeside(sqlite.filename, clock) : db;
      const changed = { ...options, leaseHolder: 'sibling', ...changes, environment };
      return openInstance(changed, { db: own, sqlite }, clock, secret, workspaceKey);
    },
    async restart(environment = {}, changes = {}) {
      // On SQLite two runners would take batches from each other. Mails and deliveries go on, as those of a sibling.
      await services.tasks.stop();
      await services.flushAll();
      const changed = { ...options, ...changes, environment: { ...options.environment, ...environment } };
      return openInstance(changed, { db, sqlite }, clock, secret, workspaceKey);
    },
  };
  return instance;
}
