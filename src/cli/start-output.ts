/** Prints the start, stop and warning messages of a server: plain lines on a terminal, JSON log lines elsewhere. */
import { resolve } from 'node:path';
import { isatty } from 'node:tty';
import type { Config } from '../config.ts';
import { isoTime, systemClock } from '../core/clock.ts';
import { counted } from '../core/quantities.ts';
import { isOutage } from '../db/errors.ts';
import { serverAddress } from '../mail/server-url.ts';
import { countQueues } from '../modules/health/queue-counts.ts';
import { isPlainToOthers } from '../modules/health/warnings.ts';
import type { RunningServer } from '../server.ts';
import { SETTINGS } from '../settings.ts';
import { findMailServer } from '../store/mail-servers.ts';
import { VERSION } from '../version.ts';
import { networkFileSystemWarning } from './doctor/folder.ts';
import { queuesText } from './queues-text.ts';
import { wrapText } from './wrap.ts';

export interface StartOutput {
  /** Prints plain lines. Otherwise every line is a JSON log record, so that a log parser can read all of them. */
  readonly isForPeople: boolean;
  readonly write: (text: string) => void;
}

/** Chooses plain lines for the pretty format and, without an explicit format, for `--dev` and terminals. */
export function startOutputOf({ logFormat, mode }: Config, fd: number, write: StartOutput['write']): StartOutput {
  return { isForPeople: logFormat === 'pretty' || (logFormat === null && (mode === 'dev' || isatty(fd))), write };
}

const NO_OWNER = 'No owner yet. Open this link to become the owner (works once, for 24 hours):';
const WIDTH = 10;
const COLUMNS = 80;
/** Limits how long a start waits for the queue counts, which are slow on a large backlog. */
const COUNT_MS = 1000;

/** @param seeded sentences about what the seed file changed. */
export async function announceStart(
  server: RunningServer,
  config: Config,
  seeded: readonly string[],
  output: StartOutput,
): Promise<void> {
  const { url, localUrl, upgradeCopy } = server;
  const setupLink = await setupLinkOf(server);
  const taken = server.isAfterCrash ? await resumedWork(server) : null;
  const notes = [
    ...(upgradeCopy ? [`The database was upgraded; a copy from before is at ${upgradeCopy}`] : []),
    ...(taken === null ? [] : [taken]),
    ...seeded.map((line) => line.trim()),
  ];
  const mailServer = await mailServerOf(server, config);
  const warnings = warningsAtStart(config, url, mailServer);
  const facts = {
    version: VERSION,
    listens: localUrl,
    data: dataOf(config),
    mail: mailServer ?? (config.mode === 'dev' ? 'kept in the outbox and printed here' : 'not sent'),
    backups: backupsOf(config),
    console: `${url}/console`,
  };
  if (output.isForPeople) {
    const rows = Object.entries(facts).filter(
      ([name, value]) => !(name === 'listens' && value === url.replace('localhost', '127.0.0.1')) && value !== null,
    );
    const lines = [
      `Gatehouse is running at ${url}`,
      ...rows.map(([name, value]) => `  ${`${name.charAt(0).toUpperCase()}${name.slice(1)}`.padEnd(WIDTH)}${value}`),
      ...(notes.length > 0 ? ['', ...notes.flatMap((text) => wrapText(text, COLUMNS))] : []),
      ...(warnings.length > 0 ? ['', ...warnings.flatMap(marked)] : []),
      ...(setupLink === null ? [] : ['', NO_OWNER, `  ${setupLink}`]),
    ];
    output.write(`${lines.join('\n')}\n\n`);
    return;
  }
  // Written at once with the address last: a reader that waits for the address has received every line before it.
  output.write(
    [
      ...notes.map((msg) => logLine('info', msg)),
      ...warnings.map((msg) => logLine('warn', msg)),
      ...(setupLink === null ? [] : [logLine('warn', `${NO_OWNER} ${setupLink}`)]),
      logLine('info', `Gatehouse is running at ${url}`, { url, ...facts }),
    ].join(''),
  );
}

/** Returns null with an owner, and for a database that was lost just now: the server runs, and waits for it. */
async function setupLinkOf({ url, services }: RunningServer): Promise<string | null> {
  try {
    if (await services.workspaces.hasOwner()) return null;
    return `${url}/setup?token=${await services.setup.createLink()}`;
  } catch (error) {
    if (isOutage(error)) return null;
    throw error;
  }
}

function marked(text: string): string[] {
  return wrapText(text, COLUMNS - 2).map((line, at) => `${at === 0 ? '!' : ' '} ${line}`);
}

export function announceStopping(pending: number, { isForPeople, write }: StartOutput): void {
  const text = pending > 0 ? `Stopping… finishing ${counted(pending, 'request')}` : 'Stopping…';
  // The leading newline moves past the ^C that the terminal echoes.
  write(isForPeople ? `\n${text}\n` : logLine('info', text));
}

export function announceStopped({ isForPeople, write }: StartOutput): void {
  write(isForPeople ? 'Stopped.\n' : logLine('info', 'Stopped.'));
}

function logLine(level: 'info' | 'warn', msg: string, fields: Readonly<Record<string, unknown>> = {}): string {
  return `${JSON.stringify({ level, time: isoTime(systemClock.now()), msg, ...fields })}\n`;
}

/** Returns host and port of the mail server, of the environment or of the console; null without one. */
async function mailServerOf({ db }: RunningServer, { smtpUrl }: Config): Promise<string | null> {
  if (smtpUrl !== null) return new URL(smtpUrl).host;
  try {
    const stored = await findMailServer(db.reader);
    return stored ? serverAddress(stored) : null;
  } catch (error) {
    if (isOutage(error)) return null;
    throw error;
  }
}

function dataOf({ database, dataFolder }: Config): string {
  return database === null ? resolve(dataFolder) : `PostgreSQL at ${database.address.shown}`;
}

function backupsOf({ shown, backupTo, mode, database }: Config): string | null {
  if (mode !== 'normal') return null;
  if (database !== null) return 'those of the database (pg_dump)';
  if (backupTo === null) return 'none (GATEHOUSE_BACKUP_TO)';
  const of = (name: string) => shown.find((setting) => setting.name === name)?.value ?? '';
  return `${of(SETTINGS.backupSchedule.env)} UTC, to ${of(SETTINGS.backupTo.env)}`;
}

/** Returns configuration problems that the operator should fix, one sentence each. */
export function warningsAtStart(config: Config, url: string, mailServer: string | null): string[] {
  const { mode, baseUrl, tlsFiles, trustedProxies, dataFolder, database } = config;
  const network = mode === 'ephemeral' || database !== null ? null : networkFileSystemWarning(dataFolder);
  return [
    ...(network === null ? [] : [network]),
    ...(mode === 'normal' && mailServer === null
      ? [
          'NO MAIL IS SENT: no mail server is set (GATEHOUSE_SMTP_URL, or in the console). Read codes with "gatehouse outbox list".',
        ]
      : []),
    ...(isPlainToOthers(url)
      ? [`${url} is not encrypted: others on the network can read sessions and codes, and passkeys do not work.`]
      : []),
    ...(baseUrl?.startsWith('https:') && tlsFiles === null && trustedProxies.rules.length === 0
      ? ['No proxy is trusted (GATEHOUSE_TRUSTED_PROXIES): all clients behind a proxy count as one.']
      : []),
  ];
}

/** Returns a sentence about the work that an unclean shutdown left queued. */
async function resumedWork({ db }: RunningServer): Promise<string> {
  const counting = countQueues(db.reader);
  counting.catch(() => {});
  const waiting = await Promise.race([counting, Bun.sleep(COUNT_MS).then(() => null)]);
  const before = 'The previous server did not shut down cleanly';
  if (waiting === null) return `${before}; its unfinished work is resumed.`;
  const text = queuesText(waiting);
  return text === null ? `${before}. No work was left unfinished.` : `${before}. Resumed: ${text}.`;
}
