/** Collects the input of all checks: readable settings, where the data is, and the server running on it, if any. */
import { existsSync } from 'node:fs';
import { type Config, ConfigError, type Environment, type Flags, loadConfig, ownUrl } from '../../config.ts';
import { doctorPass, DOCTOR_HEADER, type InstanceIdentity, sharedIdentity } from '../../core/doctor-pass.ts';
import { instanceKey } from '../../core/instance-key.ts';
import { pathsIn } from '../../db/sqlite/data-folder.ts';
import type { ServerNote } from '../../db/opened-data.ts';
import { findServer } from '../../db/sqlite/running-server.ts';
import { findWalLoss, type WalLoss } from '../../db/sqlite/wal-check.ts';
import { DOCTOR_PATH, type DoctorAnswer } from '../../modules/health/doctor-route.ts';
import { SETTINGS } from '../../settings.ts';

export interface ServerAnswer {
  readonly response: Response | null;
  /** Null when another server answered, or none did. */
  readonly facts: DoctorAnswer | null;
  /** Why no response arrived. */
  readonly error: (Error & { readonly code?: string }) | null;
  /** The `Date` header minus this machine's clock, in milliseconds. */
  readonly clockAheadMs: number | null;
}

export interface DoctorContext {
  readonly config: Config;
  /** Problems of the settings; each begins with its variable. */
  readonly problems: readonly string[];
  /** Absolute path. With PostgreSQL it is not in use. */
  readonly folder: string;
  readonly databasePath: string;
  /** Null when no server runs; `note` is null when the running server left no note. */
  readonly server: { readonly note: ServerNote | null } | null;
  readonly note: ServerNote | null;
  /** How servers on the data are recognized; null where they cannot be. */
  readonly identity: InstanceIdentity | null;
  /** WAL pages lost in a kill; null while a server runs, which checked at its own start. */
  readonly logLoss: WalLoss | null;
  /** Base URL of the running server, otherwise from the settings. */
  readonly baseUrl: string;
  /** Value of a setting in the running server, otherwise in this environment; null when not set. */
  readonly given: (name: string) => string | null;
  readonly timeoutMs: number;
  readonly now: () => number;
  /** Sends a request that proves to a server on the data that its operator asks. */
  readonly reach: (url: string, options?: { readonly isAnyCertificate?: boolean }) => Promise<ServerAnswer>;
}

export interface DoctorContextOptions {
  readonly environment: Environment;
  readonly flags: Flags;
  readonly now: () => number;
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 10_000;

export function doctorContext({
  environment,
  flags,
  now,
  timeoutMs = TIMEOUT_MS,
}: DoctorContextOptions): DoctorContext {
  const { config, problems } = readableSettings(environment, flags);
  const { path: folder, databasePath } = pathsIn(config.dataFolder);
  const isFolder = config.database === null;
  const server = isFolder && existsSync(folder) ? findServer(folder) : null;
  const note = server?.note ?? null;
  // Runs before anything reads the database: recovery rebuilds the WAL index.
  const logLoss = isFolder && server === null && existsSync(databasePath) ? findWalLoss(databasePath, now()) : null;
  const identity = note ?? identityOf(config);
  const here = new Map(config.shown.filter(({ isDefault }) => !isDefault).map(({ name, value }) => [name, value]));

  async function reach(url: string, { isAnyCertificate = false } = {}): Promise<ServerAnswer> {
    const sentAt = now();
    try {
      const response = await fetch(`${url}${DOCTOR_PATH}`, {
        redirect: 'manual',
        headers: { ...(identity && { [DOCTOR_HEADER]: doctorPass(identity.pass, now()) }), Connection: 'close' },
        signal: AbortSignal.timeout(timeoutMs),
        ...(isAnyCertificate && { tls: { rejectUnauthorized: false } }),
      });
      const facts = response.ok ? await factsIn(response) : null;
      const date = Date.parse(response.headers.get('date') ?? '');
      // The header has whole seconds, so half a second is added.
      const clockAheadMs = Number.isNaN(date) ? null : Math.round(date + 500 - (sentAt + now()) / 2);
      return {
        response,
        facts: identity !== null && facts?.instanceId === identity.instanceId ? facts : null,
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
    identity,
    logLoss,
    baseUrl: note?.url ?? ownUrl(config, config.port),
    given: (name) => (note ? (note.settings[name] ?? null) : (here.get(name) ?? null)),
    timeoutMs,
    now,
    reach,
  };
}

/** Instances on PostgreSQL share a key, and are recognized by it. */
function identityOf({ database }: Config): InstanceIdentity | null {
  const keyBytes = database?.keyBytes ?? null;
  return keyBytes && sharedIdentity(instanceKey(keyBytes));
}

async function factsIn(response: Response): Promise<DoctorAnswer | null> {
  try {
    return (await response.json()) as DoctorAnswer;
  } catch {
    return null;
  }
}

/** Loads the settings. Reports those that cannot be parsed and loads the rest without them. */
function readableSettings(environment: Environment, flags: Flags): { config: Config; problems: readonly string[] } {
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
    const again = readableSettings(rest, restOfFlags);
    return { config: again.config, problems: [...new Set([...problems, ...again.problems])] };
  }
}
