/**
 * Lockout after wrong codes, per e-mail and client address. A known browser has its own limit, so that other people's
 * guesses do not lock it out. The global count locks nobody out; it only lowers the limit per address.
 */
import { DAY, MINUTE } from '../../core/clock.ts';
import type { Unit } from '../../db/database.ts';
import { LIMITS, type LimitSettings } from '../../http/limits.ts';
import { addressPrefix } from '../../core/ip-address.ts';
import {
  type CodeFailures,
  findFailuresFromPrefix,
  findFailuresInBrowser,
  findFailuresOfKnown,
  findFailuresOfUnknown,
  findFailureTime,
  deleteFailuresFromPrefix,
  insertCodeFailure,
} from '../../store/code-failures.ts';
import type { CodeOwner } from '../../store/codes.ts';
import { listSignInAddresses } from '../../store/sessions.ts';

const MAX_LOCKOUT_MS = DAY;
/** Share of its limit that a client address keeps while the global limit is exceeded. */
const SHARE_UNDER_ATTACK = 1 / 10;

export type LockoutLimit = 'wrongCodesPerEmail' | 'wrongCodesPerBrowser' | 'wrongCodesPerAddress' | 'wrongCodesInAll';

/** A lockout: until it ends, codes are neither checked nor sent. */
export interface Lockout {
  readonly limit: LockoutLimit;
  readonly allowed: number;
  /** Epoch milliseconds. */
  readonly until: number;
}

/** Computes every lockout from the times of the wrong codes; no lockout state is stored. */
export function codeLockouts(limits: LimitSettings) {
  /** The wrong code that reaches the limit starts the lockout; each one after it doubles the lockout. */
  function lockoutAfter(
    limit: LockoutLimit,
    { count, lastAt }: CodeFailures,
    allowed: number | null = limits[limit],
  ): Lockout[] {
    if (allowed === null || lastAt === null || count < allowed) return [];
    const durationMs = limits.codePauseMinutes * MINUTE * 2 ** (count - allowed);
    return [{ limit, allowed, until: lastAt + Math.min(durationMs, MAX_LOCKOUT_MS) }];
  }

  async function lockoutsInBrowser(unit: Unit, owner: CodeOwner, browser: string): Promise<Lockout[]> {
    const { windowMs } = LIMITS.wrongCodesPerBrowser;
    // The second limits all known browsers together: someone who signs in often has many.
    const ofAll = { ...owner, windowMs: LIMITS.wrongCodesPerEmail.windowMs };
    const [inBrowser, inAll] = await Promise.all([
      findFailuresInBrowser(unit, { ...owner, browser, windowMs }),
      findFailuresOfKnown(unit, ofAll),
    ]);
    return [...lockoutAfter('wrongCodesPerBrowser', inBrowser), ...lockoutAfter('wrongCodesPerEmail', inAll)];
  }

  async function lockoutsOutsideBrowser(unit: Unit, owner: CodeOwner): Promise<Lockout[]> {
    const { windowMs } = LIMITS.wrongCodesPerEmail;
    const [ofOwner, ofClient] = await Promise.all([
      findFailuresOfUnknown(unit, { ...owner, windowMs }),
      lockoutsOfClient(unit, owner),
    ]);
    return [...lockoutAfter('wrongCodesPerEmail', ofOwner), ...ofClient];
  }

  /** Exempts people who have signed in from this address (IPv6: /64 prefix) before from failures of others there. */
  async function lockoutsOfClient(unit: Unit, owner: CodeOwner): Promise<Lockout[]> {
    const block = prefixOf(unit);
    if (block === null) return [];
    const { windowMs } = LIMITS.wrongCodesPerAddress;
    const fromBlock = await findFailuresFromPrefix(unit, { addressBlock: block, windowMs });
    const pauses = [
      ...lockoutAfter('wrongCodesPerAddress', fromBlock),
      ...(await lockoutsUnderAttack(unit, fromBlock)),
    ].filter(({ until }) => until > unit.now);
    return pauses.length > 0 && (await hasSignedInFrom(unit, owner, block)) ? [] : pauses;
  }

  /** Applies the lowered limit per address for as long as the global limit is exceeded. */
  async function lockoutsUnderAttack(unit: Unit, fromBlock: CodeFailures): Promise<Lockout[]> {
    const inAll = limits.wrongCodesInAll;
    if (inAll === null || fromBlock.lastAt === null) return [];
    const { windowMs } = LIMITS.wrongCodesInAll;
    const oldest = await findFailureTime(unit, unit.now - windowMs, inAll);
    if (oldest === null) return [];
    const allowed = Math.ceil(
      (limits.wrongCodesPerAddress ?? LIMITS.wrongCodesPerAddress.default) * SHARE_UNDER_ATTACK,
    );
    return lockoutAfter('wrongCodesInAll', fromBlock, allowed).map((pause) => ({
      ...pause,
      until: Math.min(pause.until, oldest + windowMs),
    }));
  }

  return {
    /** Returns the author's longest lockout in force. @param browser the person's known browser; null if unknown. */
    async findLockout(unit: Unit, owner: CodeOwner, browser: string | null): Promise<Lockout | null> {
      const pauses = await (browser === null
        ? lockoutsOutsideBrowser(unit, owner)
        : lockoutsInBrowser(unit, owner, browser));
      const [longest] = pauses.filter(({ until }) => until > unit.now).sort((left, right) => right.until - left.until);
      return longest ?? null;
    },

    /** Counts a wrong code against every limit that applied to it. */
    async recordFailure(unit: Unit, owner: CodeOwner, browser: string | null): Promise<void> {
      const block = prefixOf(unit);
      const isHeldToBlock = block !== null && !(await hasSignedInFrom(unit, owner, block));
      await insertCodeFailure(unit, { ...owner, addressBlock: isHeldToBlock ? block : null, browser });
    },

    /** A correct code clears this person's failures from the shared client address. */
    async clearFailuresOfClient(unit: Unit, owner: CodeOwner): Promise<void> {
      const block = prefixOf(unit);
      if (block !== null) await deleteFailuresFromPrefix(unit, { ...owner, addressBlock: block });
    },
  };
}

/** Returns whether the person has signed in from this address or /64 prefix, as far as sessions still show it. */
async function hasSignedInFrom(unit: Unit, { email }: CodeOwner, block: string): Promise<boolean> {
  return (await listSignInAddresses(unit, email)).some((ip) => addressPrefix(ip) === block);
}

function prefixOf({ actor }: Unit): string | null {
  return actor.ip === null ? null : addressPrefix(actor.ip);
}
