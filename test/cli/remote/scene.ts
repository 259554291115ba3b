/** A person at a terminal, with their own home and servers inside the test process. */
import { afterAll } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findCommand, parseCall, UsageError } from '@/cli/arguments.ts';
import { commandFailureText } from '@/cli/failure.ts';
import { REMOTE } from '@/cli/remote/commands.ts';
import type { RemoteCommand } from '@/cli/remote/remote-command.ts';
import type { Terminal } from '@/cli/remote/terminal.ts';
import { StartupError } from '@/core/startup-error.ts';
import { createInstance, type Instance } from '../../support/instance.ts';

export const URL_A = 'https://auth.example.com';
export const URL_B = 'https://other.example.com';

export interface Ran {
  readonly exitCode: number;
  readonly out: string;
  readonly err: string;
  /** The output, parsed as JSON. */
  // biome-ignore lint: checked by the test that asked for it.
  readonly json: () => any;
}

export interface Person {
  readonly home: string;
  readonly credentials: string;
  /** @returns the outcome once the command has ended. */
  gatehouse(args: readonly string[], at?: Partial<Terminal> & { answers?: readonly string[] }): Promise<Ran>;
  /** Runs a command with the first server's workspace key. */
  manage(args: readonly string[], at?: Partial<Terminal> & { answers?: readonly string[] }): Promise<Ran>;
}

const homes: string[] = [];
afterAll(() => homes.forEach((home) => rmSync(home, { recursive: true, force: true })));

/** @param servers by address; any other is unreachable. */
export function personAt(servers: Readonly<Record<string, Instance>>): Person {
  const home = mkdtempSync(join(tmpdir(), 'gatehouse-home-'));
  homes.push(home);
  const instance = Object.values(servers)[0]!;

  const person: Person = {
    home,
    credentials: join(home, '.config', 'gatehouse', 'credentials.json'),
    async gatehouse(args, { answers = [], ...changes } = {}) {
      let [out, err] = ['', ''];
      const left = [...answers];
      const terminal: Terminal = {
        env: {},
        home,
        host: 'laptop',
        platform: 'linux',
        isTty: false,
        columns: 80,
        canAsk: left.length > 0,
        interruption: new AbortController().signal,
        fetch: async (url, init) => {
          const server = servers[new URL(url).origin];
          if (!server) throw new TypeError('nobody listens there');
          // The instance is called localhost in this process.
          return server.app.fetch(new Request(`http://localhost${url.slice(new URL(url).origin.length)}`, init));
        },
        now: () => instance.clock.now(),
        wait: async (ms) => void instance.clock.advance(ms),
        out: async (text) => void (out += text),
        err: (text) => void (err += text),
        progress: () => {},
        async ask(question) {
          err += question;
          return left.shift() ?? '';
        },
        inputEnd: () => new Promise(() => {}),
        open: async () => false,
        listen() {
          throw new Error('the test did not expect a server');
        },
        ...changes,
      };
      const done = (exitCode: number): Ran => ({ exitCode, out, err, json: () => JSON.parse(out) });
      try {
        const found = findCommand(REMOTE, args)!;
        const { flags, operands } = parseCall(found.command, found.rest);
        return done(await (found.command as RemoteCommand).run(flags, operands, terminal));
      } catch (error) {
        if (!(error instanceof UsageError) && !(error instanceof StartupError)) throw error;
        const isUsage = error instanceof UsageError;
        err += commandFailureText(
          { error: isUsage ? 'usage' : 'failed', message: error.message },
          args.includes('--json'),
        );
        return done(isUsage ? 2 : 1);
      }
    },
    manage: (args, at) =>
      person.gatehouse(args, {
        ...at,
        env: { GATEHOUSE_URL: Object.keys(servers)[0], GATEHOUSE_KEY: instance.workspaceKey, ...at?.env },
      }),
  };
  return person;
}

export async function oneServer(): Promise<{ instance: Instance; person: Person }> {
  const instance = await createInstance();
  return { instance, person: personAt({ [URL_A]: instance }) };
}

/** Decides as a person in the browser, with the code that the terminal shows, while the command waits. */
export function deciding(instance: Instance, decision: 'approve' | 'deny', email = 'owner@example.com') {
  let shown = '';
  let isDecided = false;
  return {
    out: async (text: string) => void (shown += text),
    err: (text: string) => void (shown += text),
    async wait(ms: number) {
      instance.clock.advance(ms);
      const [userCode] = /\b[A-Z0-9]{4}-[A-Z0-9]{4}\b/.exec(shown) ?? [];
      if (isDecided || userCode === undefined) return;
      isDecided = true;
      const { token } = await instance.signIn('console', email);
      await instance.call('POST', `/api/account/device/${decision}`, { token, body: { user_code: userCode } });
    },
    text: () => shown,
  };
}

/** Logs in as the owner. */
export async function logIn(person: Person, instance: Instance, url = URL_A): Promise<Ran> {
  const { text, ...browser } = deciding(instance, 'approve');
  const ran = await person.gatehouse(['login', '--url', url], browser);
  return { ...ran, out: text() };
}
