/**
 * How many wrong codes are taken before codes pause, and for how long: per e-mail and per client address. A browser that knows
 * the person has budgets of its own, so that nobody else's guesses lock them out; it opens nothing else. What is guessed in all
 * pauses nobody: it makes the budget of each client address smaller, so that a few strangers cannot switch codes off.
 */
import { DAY, MINUTE } from '../../core/clock.ts';
import type { Unit } from '../../db/database.ts';
import { LIMITS, type LimitSettings } from '../../http/limits.ts';
import { addressBlock } from '../../http/request-context.ts';
import {
  type CodeFailures,
  findFailuresFromBlock,
  findFailuresInBrowser,
  findFailuresOfOwner,
  findFailureTime,
  forgiveBlock,
  insertCodeFailure,
} from '../../store/code-failures.ts';
import type { CodeOwner } from '../../store/codes.ts';
import { listSignInAddresses } from '../../store/sessions.ts';

const MAX_PAUSE_MS = DAY;
/** What a client address has left while there are too many wrong codes in all. */
const SHARE_WHEN_SCARCE = 1 / 10;

/** The limits on wrong codes that pause them. */
export type PausingLimit = 'wrongCodesPerEmail' | 'wrongCodesPerBrowser' | 'wrongCodesPerAddress' | 'wrongCodesInAll';

/** Codes are not judged until then, nor sent. */
export interface CodePause {
  readonly limit: PausingLimit;
  /** How many it allows. */
  readonly allowed: number;
  /** Epoch milliseconds. */
  readonly until: number;
}

/** All of it follows from when the wrong codes were: no pause can be forgotten, and none outlives its reason. */
export function guessBudgets(limits: LimitSettings) {
  /**
   * Wrong codes are counted over the window that ends with the last one. The first beyond the limit pauses codes; each after
   * it is judged once the pause is over, and pauses them twice as long.
   */
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
    const inBrowser = await findFailuresInBrowser(unit, owner, browser, windowMs);
    // Whoever has signed in often has many such browsers.
    const inAll = await findFailuresOfOwner(unit, owner, {
      isKnown: true,
      windowMs: LIMITS.wrongCodesPerEmail.windowMs,
    });
    return [...pauseAfter('wrongCodesPerBrowser', inBrowser), ...pauseAfter('wrongCodesPerEmail', inAll)];
  }

  async function openPauses(unit: Unit, owner: CodeOwner): Promise<CodePause[]> {
    const ofOwner = await findFailuresOfOwner(unit, owner, {
      isKnown: false,
      windowMs: LIMITS.wrongCodesPerEmail.windowMs,
    });
    return [...pauseAfter('wrongCodesPerEmail', ofOwner), ...(await pausesOfClient(unit, owner))];
  }

  /** Whoever has signed in from there before is not held to what others at the same address did. */
  async function pausesOfClient(unit: Unit, owner: CodeOwner): Promise<CodePause[]> {
    const block = blockOf(unit);
    if (block === null) return [];
    const fromBlock = await findFailuresFromBlock(unit, block, LIMITS.wrongCodesPerAddress.windowMs);
    const pauses = [
      ...pauseAfter('wrongCodesPerAddress', fromBlock),
      ...(await pausesWhenScarce(unit, fromBlock)),
    ].filter(({ until }) => until > unit.now);
    return pauses.length > 0 && (await hasComeFrom(unit, owner, block)) ? [] : pauses;
  }

  /** While there are too many in all, until there are fewer in the window: an address that tried more than its share. */
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
     * Whether codes are paused for the author of the change.
     *
     * @param browser the one that the person is known in; null where they are not.
     * @returns the pause that lasts longest; null where there is none.
     */
    async findPause(unit: Unit, owner: CodeOwner, browser: string | null): Promise<CodePause | null> {
      const pauses = await (browser === null ? openPauses(unit, owner) : pausesInBrowser(unit, owner, browser));
      const [longest] = pauses.filter(({ until }) => until > unit.now).sort((left, right) => right.until - left.until);
      return longest ?? null;
    },

    /** Counts a wrong code against every budget that it was judged by. */
    async recordFailure(unit: Unit, owner: CodeOwner, browser: string | null): Promise<void> {
      const block = blockOf(unit);
      const isHeldToBlock = block !== null && !(await hasComeFrom(unit, owner, block));
      await insertCodeFailure(unit, owner, { addressBlock: isHeldToBlock ? block : null, browser });
    },

    /** Whoever gives the right code has mistyped before: it counts no more against the address that many may share. */
    async forgiveClient(unit: Unit, owner: CodeOwner): Promise<void> {
      const block = blockOf(unit);
      if (block !== null) await forgiveBlock(unit, owner, block);
    },
  };
}

/** Whether the person has signed in from there, as far as that is still known. */
async function hasComeFrom(unit: Unit, { email }: CodeOwner, block: string): Promise<boolean> {
  return (await listSignInAddresses(unit, email)).some((ip) => addressBlock(ip) === block);
}

function blockOf({ actor }: Unit): string | null {
  return actor.ip === null ? null : addressBlock(actor.ip);
}
