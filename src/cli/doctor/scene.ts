/** What the doctor works on: settings as far as they can be read, the data folder, and the server that runs on it, if any. */
import { existsSync } from 'node:fs';
import { type Config, ConfigError, type Environment, type Flags, loadConfig, ownUrl } from '../../config.ts';
import { doctorPass, DOCTOR_HEADER } from '../../core/doctor-pass.ts';
import { pathsIn } from '../../db/data-folder.ts';
import { findServer, type ServerNote } from '../../db/beside-server.ts';
import { findLogLoss, type LogLoss } from '../../db/log-look.ts';
import { DOCTOR_PATH, type DoctorAnswer } from '../../modules/health/doctor-route.ts';
import { SETTINGS } from '../../settings.ts';

/** What a request for the server's facts came to. */
export interface ServerAnswer {
  readonly response: Response | null;
  /** Null where another has answered, or nobody. */
  readonly facts: DoctorAnswer | null;
  /** Why nobody did. */
  readonly error: (Error & { readonly code?: string }) | null;
  /** The `Date` header less this machine's clock, in milliseconds. */
  readonly clockAheadMs: number | null;
}

export interface Scene {
  readonly config: Config;
  /** Each begins with its variable. */
  readonly problems: readonly string[];
  /** Absolute. */
  readonly folder: string;
  readonly databasePath: string;
  /** Null where none runs; its note is null where it says nothing of itself. */
  readonly server: { readonly note: ServerNote | null } | null;
  readonly note: ServerNote | null;
  /** Missing pages of the log that a kill has left; null beside a running server, which looked at its start. */
  readonly logLoss: LogLoss | null;
  /** Of the running server, else of the settings. */
  readonly baseUrl: string;
  /** A setting as the running server has it, else as it is here; null where it was not given. */
  readonly given: (name: string) => string | null;
  /** How long anybody is waited for. */
  readonly patienceMs: number;
  readonly now: () => number;
  /** Asks the server as a command of its own machine. */
  readonly reach: (url: string, options?: { readonly isAnyCertificate?: boolean }) => Promise<ServerAnswer>;
}

export interface SceneOptions {
  readonly environment: Environment;
  readonly flags: Flags;
  readonly now: () => number;
  readonly patienceMs?: number;
}

const PATIENCE_MS = 10_000;

export function setScene({ environment, flags, now, patienceMs = PATIENCE_MS }: SceneOptions): Scene {
  const { config, problems } = settingsAsFarAsTheyGo(environment, flags);
  const { path: folder, databasePath } = pathsIn(config.dataFolder);
  const server = existsSync(folder) ? findServer(folder) : null;
  const note = server?.note ?? null;
  // Before anything reads the database: recovery makes the index of the log anew.
  const logLoss = server === null && existsSync(databasePath) ? findLogLoss(databasePath, now()) : null;
  const here = new Map(config.shown.filter(({ isDefault }) => !isDefault).map(({ name, value }) => [name, value]));

  async function reach(url: string, { isAnyCertificate = false } = {}): Promise<ServerAnswer> {
    const sentAt = now();
    try {
      const response = await fetch(`${url}${DOCTOR_PATH}`, {
        redirect: 'manual',
        headers: { ...(note && { [DOCTOR_HEADER]: doctorPass(note.pass, now()) }), Connection: 'close' },
        signal: AbortSignal.timeout(patienceMs),
        ...(isAnyCertificate && { tls: { rejectUnauthorized: false } }),
      });
      const facts = response.ok ? await factsIn(response) : null;
      const date = Date.parse(response.headers.get('date') ?? '');
      // The header has whole seconds.
      const clockAheadMs = Number.isNaN(date) ? null : Math.round(date + 500 - (sentAt + now()) / 2);
      return {
        response,
        facts: note !== null && facts?.instanceId === note.instanceId ? facts : null,
        error: null,
        clockAheadMs,
      };
    } catch (error) {
      return { response: null, facts: null, error: error as Error, clockAheadMs: null };
    }
  }

  return {
    config,
    problems,
    folder,
    databasePath,
    server,
    note,
    logLoss,
    baseUrl: note?.url ?? ownUrl(config, config.port),
    given: (name) => (note ? (note.settings[name] ?? null) : (here.get(name) ?? null)),
    patienceMs,
    now,
    reach,
  };
}

async function factsIn(response: Response): Promise<DoctorAnswer | null> {
  try {
    return (await response.json()) as DoctorAnswer;
  } catch {
    return null;
  }
}

/** What cannot be read is said, and left out for the rest of the look. */
function settingsAsFarAsTheyGo(
  environment: Environment,
  flags: Flags,
): { config: Config; problems: readonly string[] } {
  try {
    return { config: loadConfig(environment, { flags }), problems: [] };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const { problems } = error;
    const broken = new Set(problems.map((problem) => /^GATEHOUSE_\w+/.exec(problem)?.[0] ?? ''));
    const isGood = ([name]: readonly [string, unknown]) => !broken.has(name);
    const rest = Object.fromEntries(Object.entries(environment).filter(isGood));
    const brokenFlags = Object.values(SETTINGS).flatMap((setting) =>
      'flag' in setting && broken.has(setting.env) ? [setting.flag.name as string] : [],
    );
    const restOfFlags = Object.fromEntries(Object.entries(flags).filter(([name]) => !brokenFlags.includes(name)));
    if (Object.keys(rest).length === Object.keys(environment).length && brokenFlags.length === 0)
      return { config: loadConfig({}), problems };
    const again = settingsAsFarAsTheyGo(rest, restOfFlags);
    return { config: again.config, problems: [...new Set([...problems, ...again.problems])] };
  }
}
