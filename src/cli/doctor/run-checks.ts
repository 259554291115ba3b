/** Runs all checks in order, those without dependencies first. */
import { addressFindings, isOnThisMachine, proxyFindings, reachFindings } from './base-url.ts';
import { certificateFindings } from './certificate.ts';
import { countryFindings } from './countries.ts';
import { databaseFindings, type DatabaseOptions } from './database.ts';
import type { Finding } from './finding.ts';
import { folderFindings, isOpenToUs } from './folder.ts';
import { keyFindings } from './instance-key.ts';
import { clockFindings, clockInGreeting, descriptorFindings, isClockSynchronized, type OtherClock } from './machine.ts';
import { mailFindings } from './mail.ts';
import { postgresFindings } from './postgres.ts';
import type { DoctorContext, ServerAnswer } from './context.ts';
import { serverFindings, settingsFindings } from './settings.ts';

export interface RunChecksOptions {
  /** Recipient of a test mail; null sends none. */
  readonly sendTo: string | null;
  /** Runs the integrity check without a time limit. */
  readonly isFull: boolean;
  readonly step?: (what: string) => void;
}

/** Findings about the data and the servers on it, and what the other checks need of them. */
interface DataState {
  readonly findings: readonly Finding[];
  readonly isServed: boolean;
  readonly clock: OtherClock | null;
}

/** Runs every check. Changes nothing; sends only the test mail. */
export async function runChecks(
  context: DoctorContext,
  { sendTo, isFull, step = () => {} }: RunChecksOptions,
): Promise<readonly Finding[]> {
  const { config, baseUrl, note, now, timeoutMs } = context;
  step('asking the server');
  const local = note === null ? null : await context.reach(note.localUrl, { isAnyCertificate: true });
  const isHttps = baseUrl.startsWith('https:');
  step(`asking ${baseUrl}`);
  const outside = await context.reach(baseUrl, { isAnyCertificate: isHttps });
  step('checking the database');
  const data: DataState =
    config.database === null
      ? await folderState(context, local, { isFull, step })
      : await postgresFindings(context, config.database, outside, { isFull });
  const isSpoken = isHttps && (outside.response !== null || data.isServed);
  const certificate = isSpoken ? await certificateFindings(baseUrl, timeoutMs, now()) : [];
  step('asking the mail server');
  const mail = await mailFindings(context, sendTo, (local?.facts ?? outside.facts)?.mailServerOfConsole ?? null);
  const isOthersClock = outside.clockAheadMs !== null && !isOnThisMachine(baseUrl);
  const clocks: (OtherClock | null)[] = [
    data.clock,
    isOthersClock ? { whose: new URL(baseUrl).host, aheadMs: outside.clockAheadMs ?? 0 } : null,
    clockInGreeting(mail.greeting, now()),
  ];
  return [
    ...settingsFindings(context),
    ...data.findings,
    ...addressFindings(context),
    ...reachFindings(context, data.isServed, outside),
    ...certificate,
    ...countryFindings(context),
    ...proxyFindings(context, outside.facts?.seen ?? null, local?.facts ?? null),
    ...mail.findings,
    ...clockFindings(
      clocks.filter((clock) => clock !== null),
      await isClockSynchronized(),
    ),
    ...descriptorFindings(context),
  ];
}

async function folderState(
  context: DoctorContext,
  local: ServerAnswer | null,
  options: DatabaseOptions,
): Promise<DataState> {
  const isOpen = isOpenToUs(context.folder);
  const findings = [
    ...(isOpen ? serverFindings(context, local) : []),
    ...folderFindings(context),
    ...(isOpen ? keyFindings(context) : []),
    ...(isOpen ? await databaseFindings(context, local, options) : []),
  ];
  return { findings, isServed: context.server !== null, clock: null };
}
