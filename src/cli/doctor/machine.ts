/** Checks the machine: clock skew and the limit of open files. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { counted, lasting } from '../../core/quantities.ts';
import { type Finding, findingsOf } from './finding.ts';
import type { DoctorContext } from './context.ts';

const SKEW_MS = 30_000;
/** Each connection uses one file descriptor. */
const FEW_FILES = 4096;
const NTP_MS = 2000;

export interface OtherClock {
  readonly whose: string;
  readonly aheadMs: number;
}

/** Reads the time that some mail servers put in their greeting. @param at when the greeting arrived. */
export function clockInGreeting(greeting: string | null, at: number): OtherClock | null {
  const [date] = /\w{3}, \d{1,2} \w{3} \d{4} \d\d:\d\d:\d\d (?:[+-]\d{4}|GMT|UTC)/.exec(greeting ?? '') ?? [];
  const time = Date.parse(date ?? '');
  return Number.isNaN(time) ? null : { whose: 'the mail server', aheadMs: time + 500 - at };
}

/** @param isSynchronized state reported by the system; null when unknown. */
export function clockFindings(others: readonly OtherClock[], isSynchronized: boolean | null): Finding[] {
  const { ok, warn } = findingsOf('clock');
  const keep = 'Synchronize it (timedatectl set-ntp true, or chrony): codes, sessions and signatures depend on it.';
  const wrong = others.filter(({ aheadMs }) => Math.abs(aheadMs) > SKEW_MS);
  if (wrong.length > 0)
    return wrong.flatMap(({ whose, aheadMs }) =>
      warn(`This machine is ${lasting(Math.abs(aheadMs))} ${aheadMs > 0 ? 'behind' : 'ahead of'} ${whose}.`, keep),
    );
  if (isSynchronized === false) return warn('The system does not synchronize it (no NTP).', keep);
  const seen = others.length > 0 ? `Agrees with ${others.map(({ whose }) => whose).join(' and ')}` : null;
  if (isSynchronized)
    return ok(`${seen ?? 'Synchronized by the system'}${seen ? ', and synchronized by the system' : ''}.`);
  return seen ? ok(`${seen}.`) : ok('There was no other clock to compare it with.');
}

/** Asks systemd whether NTP is in sync; null when systemd is missing or does not know. */
export async function isClockSynchronized(): Promise<boolean | null> {
  if (process.platform !== 'linux' || !existsSync('/run/systemd/system')) return null;
  const command = Bun.which('timedatectl');
  if (command === null) return null;
  const child = Bun.spawn([command, 'show', '--property=NTPSynchronized', '--value'], {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'ignore',
    timeout: NTP_MS,
  });
  const said = (await new Response(child.stdout).text()).trim();
  return said === 'yes' ? true : said === 'no' ? false : null;
}

/** Checks the running server's limit where it can be read, otherwise this process's own. */
export function descriptorFindings({ note }: DoctorContext): Finding[] {
  const { ok, warn } = findingsOf('open files');
  if (process.platform !== 'linux') return [];
  const found = (note && limitsOf(note.pid)) ?? limitsOf('self');
  if (found === null) return [];
  const { soft, used, isOwn } = found;
  const told = isOwn
    ? `A process can open ${counted(soft, 'file')}`
    : `The server has ${used === null ? '' : `${used.toLocaleString('en')} of `}${counted(soft, 'file')} open that it may`;
  const more =
    'Raise the limit: LimitNOFILE=65536 in its systemd unit, --ulimit nofile=65536 for a container, or ulimit -n.';
  if (soft < FEW_FILES) return warn(`${told}: each connection takes one.`, more);
  if (used !== null && used > soft * 0.8) return warn(`${told}: soon the limit is reached.`, more);
  return ok(`${told}.`);
}

function limitsOf(pid: number | 'self'): { soft: number; used: number | null; isOwn: boolean } | null {
  try {
    const text = readFileSync(`/proc/${pid}/limits`, 'utf8');
    const [, soft = ''] = /^Max open files\s+(\d+|unlimited)/m.exec(text) ?? [];
    if (soft === '') return null;
    const isOwn = pid === 'self';
    return { soft: soft === 'unlimited' ? 2 ** 31 : Number(soft), used: isOwn ? null : filesOf(pid), isOwn };
  } catch {
    return null;
  }
}

function filesOf(pid: number): number | null {
  try {
    return readdirSync(`/proc/${pid}/fd`).length;
  } catch {
    return null;
  }
}
