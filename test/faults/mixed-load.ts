/**
 * A mixed load on a running server, shared by kills and power cuts: sign-ins, keys, changes, events, imports, bans and
 * the archiving of an application. Reports each promise, an answer of 200, at once; promises.ts verifies them after
 * the fault.
 */
import { Database } from 'bun:sqlite';
import { join } from 'node:path';
import { request, sendCode, verifyCode } from '../support/binary.ts';
import type { Promised } from './promises.ts';
import type { Scene } from './scene.ts';

export interface MixedLoad {
  readonly server: { readonly url: string; readonly folder: string };
  readonly scene: Scene;
  /** Makes names unique per round. */
  readonly round: number;
  /** Whether requests run concurrently or one after the other. */
  readonly isConcurrent: boolean;
  /** Called with the answer, before the next request. */
  promise(promised: Promised): void;
  /** Whether the fault has been injected: from then on a broken connection is expected. */
  isOver(): boolean;
}

const SIGN_IN_WORKERS = 4;
const IMPORT_ROWS = 50;

type Step = (turn: number) => Promise<void>;

/** Runs until the fault. @throws for an unexpected answer. */
export async function mixedLoad(load: MixedLoad): Promise<void> {
  const { server, scene, round, promise } = load;
  const { applicationId, clientId, token } = scene;
  const application = `/api/applications/${applicationId}`;
  const sqlite = new Database(join(server.folder, 'gatehouse.db'), { readonly: true });
  const newestCode = sqlite.query('SELECT code FROM mails WHERE recipient = ? ORDER BY rowid DESC LIMIT 1');
  const codeFor = (email: string) => (newestCode.get(email) as { code: string }).code;

  async function manage(method: string, path: string, body: object) {
    const answer = await request(server, method, path, { token, body });
    if (answer.status !== 200) throw new Error(`${method} ${path} answered ${answer.status}: ${answer.text}`);
    return answer.json.data;
  }

  /** In turn: keeps a session, signs one out, bans a person. */
  function signIns(worker: number): Step {
    return async (turn) => {
      const email = `r${round}-w${worker}-${turn}@example.com`;
      const challengeId = await sendCode(server, email, clientId);
      promise({ kind: 'code', email, challengeId });
      const code = codeFor(email);
      const answer = await verifyCode(server, challengeId, code);
      if (answer.status !== 200) throw new Error(`otp/verify answered ${answer.status}: ${answer.text}`);
      const session = answer.json.data as { token: string; userId: string };
      promise({ kind: 'used', challengeId, code });
      const end = (turn + worker) % 3;
      if (end === 0) return promise({ kind: 'session', token: session.token });
      if (end === 1) {
        const out = await request(server, 'DELETE', '/api/v1/session', { token: session.token });
        if (out.status !== 200) throw new Error(`the sign-out answered ${out.status}: ${out.text}`);
      } else await manage('POST', `${application}/users/${session.userId}/ban`, { reason: 'a test' });
      promise({ kind: 'ended', token: session.token });
    };
  }

  const createKey: Step = async (turn) => {
    const body = { name: `round ${round}, ${turn}`, access: 'read' };
    promise({ kind: 'key', token: (await manage('POST', '/api/workspace/api-keys', body)).token });
  };

  /** An application of this round. */
  let own: Promise<string> | undefined;
  const ownApplication = () => (own ??= manage('POST', '/api/applications', { name: '0' }).then(({ id }) => id));

  /** Each name is the number of the change. */
  const rename: Step = async (turn) => {
    const id = await ownApplication();
    await manage('PATCH', `/api/applications/${id}`, { name: String(turn + 1) });
    promise({ kind: 'named', applicationId: id, turn: turn + 1 });
  };

  let holder: string | undefined;
  /** Emits one event per change. */
  const changeRoles: Step = async (turn) => {
    holder ??= await importHolder();
    const slugs = turn % 2 === 0 ? ['user', 'developer'] : ['user'];
    await manage('PUT', `${application}/users/${holder}/roles`, { slugs });
    promise({ kind: 'granted', userId: holder, changes: turn + 1 });
  };
  async function importHolder(): Promise<string> {
    const row = { email: `r${round}-holder@example.com`, roleSlugs: ['user'] };
    return (await manage('POST', `${application}/users/bulk`, { users: [row] })).results[0].userId;
  }

  /** Created in one turn, deleted in the next. */
  let webhook: string | undefined;
  const changeWebhooks: Step = async () => {
    const path = `/api/applications/${await ownApplication()}/webhooks`;
    if (webhook === undefined) {
      const made = await manage('POST', path, { url: scene.receiverUrl, events: ['user.paused'] });
      webhook = `${path}/${made.id}`;
      return promise({ kind: 'webhook', path: webhook });
    }
    const deleted = webhook;
    webhook = undefined;
    promise({ kind: 'deleting webhook', path: deleted });
    await manage('DELETE', deleted, {});
    promise({ kind: 'deleted webhook', path: deleted });
  };

  const importUsers: Step = async (turn) => {
    const emails = Array.from({ length: IMPORT_ROWS }, (_, index) => `r${round}-i${turn}-${index}@example.com`);
    await manage('POST', `${application}/users/bulk`, { users: emails.map((email) => ({ email })) });
    promise({ kind: 'imported', emails });
  };

  /** Archives one application per round, while there are any left. */
  const archive: Step = async (turn) => {
    const doomed = scene.doomed[round];
    if (turn > 0 || !doomed) return void (await Bun.sleep(1));
    const path = `/api/applications/${doomed.applicationId}/lifecycle`;
    const { challengeId } = await manage('POST', `${path}/send`, { kind: 'archive' });
    await manage('POST', `${path}/confirm`, { challengeId, code: codeFor(scene.ownerEmail) });
    promise({ kind: 'archived', applicationId: doomed.applicationId });
  };

  const signInWorkers = Array.from({ length: SIGN_IN_WORKERS }, (_, worker) => signIns(worker));
  const steps = [archive, ...signInWorkers, createKey, rename, changeRoles, changeWebhooks, importUsers];
  const inTurn: Step = async (turn) => {
    for (const step of steps) await step(turn);
  };
  try {
    const workers = load.isConcurrent ? steps : [inTurn];
    await Promise.all(workers.map((step) => untilFault(step, load)));
  } finally {
    sqlite.close();
  }
}

async function untilFault(step: Step, { isOver }: MixedLoad): Promise<void> {
  for (let turn = 0; !isOver(); turn += 1) {
    try {
      await step(turn);
    } catch (error) {
      const isConnectionLost = (error as { code?: string }).code !== undefined;
      if (isOver() && isConnectionLost) return;
      throw error;
    }
  }
}
