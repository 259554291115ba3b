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
  findFailuresFromBlock,
  findFailuresInBrowser,
  findFailuresOfKnown,
  findFailuresOfUnknown,
  findFailureTime,
  forgiveBlock,
  insertCodeFailure,
} from '../../store/code-failures.ts';
import type { CodeOwner } from '../../store/codes.ts';
import { listSignInAddresses } from '../../store/sessions.ts';

const MAX_PAUSE_MS = DAY;
/** Share of its limit that a client address keeps while the global limit is exceeded. */
const SHARE_WHEN_SCARCE = 1 / 10;

/** Limits on wrong codes that cause a lockout. */
export type PausingLimit = 'wrongCodesPerEmail' | 'wrongCodesPerBrowser' | 'wrongCodesPerAddress' | 'wrongCodesInAll';

/** A lockout: until it ends, codes are neither checked nor sent. */
export interface CodePause {
  readonly limit: PausingLimit;
  /** The limit's number of wrong codes. */
  readonly allowed: number;
  /** Epoch milliseconds. */
  readonly until: number;
}

/** Computes every lockout from the times of the wrong codes; no lockout state is stored. */
export function guessBudgets(limits: LimitSettings) {
  /** The wrong code that reaches the limit starts the lockout; each one after it doubles the lockout. */
  function pauseAfter(
    limit: PausingLimit,
    { count, lastAt }: CodeFailures,
    allowed: number | null = limits[limit],
  ): CodePause[] {
    if (allowed === null || lastAt === null || count < allowed) return [];
    const pauseMs = limits.codePauseMinutes * MINUTE * 2 ** (count - allowed);
    return [{ limit, allowed, until: lastAt + Math.min(pauseMs, MAX_PAUSE_MS) }];
  }

  async function pausesInBrowser(unit: Unit, owner: CodeOwner, browser: string): Promise<CodePause[]> {
    const { windowMs } = LIMITS.wrongCodesPerBrowser;
    const inBrowser = await findFailuresInBrowser(unit, { ...owner, browser, windowMs });
    // Limits all known browsers together: someone who signs in often has many.
    const ofAll = { ...owner, windowMs: LIMITS.wrongCodesPerEmail.windowMs };
    const inAll = await findFailuresOfKnown(unit, ofAll);
    return [...pauseAfter('wrongCodesPerBrowser', inBrowser), ...pauseAfter('wrongCodesPerEmail', inAll)];
  }

  async function openPauses(unit: Unit, owner: CodeOwner): Promise<CodePause[]> {
    const { windowMs } = LIMITS.wrongCodesPerEmail;
    const ofOwner = await findFailuresOfUnknown(unit, { ...owner, windowMs });
    return [...pauseAfter('wrongCodesPerEmail', ofOwner), ...(await pausesOfClient(unit, owner))];
  }

  /** Exempts people who have signed in from this address (IPv6: /64 prefix) before from failures of others there. */
  async function pausesOfClient(unit: Unit, owner: CodeOwner): Promise<CodePause[]> {
    const block = blockOf(unit);
    if (block === null) return [];
    const { windowMs } = LIMITS.wrongCodesPerAddress;
    const fromBlock = await findFailuresFromBlock(unit, { addressBlock: block, windowMs });
    const pauses = [
      ...pauseAfter('wrongCodesPerAddress', fromBlock),
      ...(await pausesWhenScarce(unit, fromBlock)),
    ].filter(({ until }) => until > unit.now);
    return pauses.length > 0 && (await hasComeFrom(unit, owner, block)) ? [] : pauses;
  }

  /** Applies the lowered limit per address for as long as the global limit is exceeded. */
  async function pausesWhenScarce(unit: Unit, fromBlock: CodeFailures): Promise<CodePause[]> {
    const inAll = limits.wrongCodesInAll;
    if (inAll === null || fromBlock.lastAt === null) return [];
    const { windowMs } = LIMITS.wrongCodesInAll;
    const oldest = await findFailureTime(unit, unit.now - windowMs, inAll);
    if (oldest === null) return [];
    const allowed = Math.ceil((limits.wrongCodesPerAddress ?? LIMITS.wrongCodesPerAddress.default) * SHARE_WHEN_SCARCE);
    return pauseAfter('wrongCodesInAll', fromBlock, allowed).map((pause) => ({
      ...pause,
      until: Math.min(pause.until, oldest + windowMs),
    }));
  }

  return {
    /**
     * Returns the longest lockout in force for the author of the change, or null.
     *
     * @param browser the person's known browser; null for an unknown one.
     */
    async findPause(unit: Unit, owner: CodeOwner, browser: string | null): Promise<CodePause | null> {
      const pauses = await (browser === null ? openPauses(unit, owner) : pausesInBrowser(unit, owner, browser));
      const [longest] = pauses.filter(({ until }) => until > unit.now).sort((left, right) => right.until - left.until);
      return longest ?? null;
    },

    /** Counts a wrong code against every limit that applied to it. */
    async recordFailure(unit: Unit, owner: CodeOwner, browser: string | null): Promise<void> {
      const block = blockOf(unit);
      const isHeldToBlock = block !== null && !(await hasComeFrom(unit, owner, block));
      await insertCodeFailure(unit, { ...owner, addressBlock: isHeldToBlock ? block : null, browser });
    },

    /** A correct code clears this person's failures from the shared client address. */
    async forgiveClient(unit: Unit, owner: CodeOwner): Promise<void> {
      const block = blockOf(unit);
      if (block !== null) await forgiveBlock(unit, { ...owner, addressBlock: block });
    },
  };
}

/** Returns whether the person has signed in from this address or /64 prefix, as far as sessions still show it. */
async function hasComeFrom(unit: Unit, { email }: CodeOwner, block: string): Promise<boolean> {
  return (await listSignInAddresses(unit, email)).some((ip) => addressPrefix(ip) === block);
}

function blockOf({ actor }: Unit): string | null {
  return actor.ip === null ? null : addressPrefix(actor.ip);
}
