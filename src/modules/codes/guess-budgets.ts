/**
 * How many wrong codes are taken before codes pause, and for how long: per e-mail, per client address, and in all. A browser
 * that knows the person has budgets of its own, so that nobody else's guesses lock them out; it opens nothing else.
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

const MAX_PAUSE_MS = DAY;

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

export type GuessBudgets = ReturnType<typeof guessBudgets>;

/** All of it follows from when the wrong codes were: no pause can be forgotten, and none outlives its reason. */
export function guessBudgets(limits: LimitSettings) {
  /**
   * Wrong codes are counted over the window that ends with the last one. The first beyond the limit pauses codes; each after
   * it is judged once the pause is over, and pauses them twice as long.
   */
  function pauseAfter(limit: Exclude<PausingLimit, 'wrongCodesInAll'>, { count, lastAt }: CodeFailures): CodePause[] {
    const allowed = limits[limit];
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
    return [
      ...pauseAfter('wrongCodesPerEmail', ofOwner),
      ...(await pausesOfClient(unit)),
      ...(await pausesOfAll(unit)),
    ];
  }

  async function pausesOfClient(unit: Unit): Promise<CodePause[]> {
    const block = blockOf(unit);
    if (limits.wrongCodesPerAddress === null || block === null) return [];
    const fromBlock = await findFailuresFromBlock(unit, block, LIMITS.wrongCodesPerAddress.windowMs);
    return pauseAfter('wrongCodesPerAddress', fromBlock);
  }

  /** No longer than it must, since it concerns everyone: until there are fewer in the window. */
  async function pausesOfAll(unit: Unit): Promise<CodePause[]> {
    const allowed = limits.wrongCodesInAll;
    const { windowMs } = LIMITS.wrongCodesInAll;
    const oldest = allowed === null ? null : await findFailureTime(unit, unit.now - windowMs, allowed);
    return allowed === null || oldest === null ? [] : [{ limit: 'wrongCodesInAll', allowed, until: oldest + windowMs }];
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
    recordFailure: (unit: Unit, owner: CodeOwner, browser: string | null): Promise<void> =>
      insertCodeFailure(unit, owner, { addressBlock: blockOf(unit), browser }),

    /** Whoever gives the right code has mistyped before: it counts no more against the address that many may share. */
    async forgiveClient(unit: Unit, owner: CodeOwner): Promise<void> {
      const block = blockOf(unit);
      if (block !== null) await forgiveBlock(unit, owner, block);
    },
  };
}

function blockOf({ actor }: Unit): string | null {
  return actor.ip === null ? null : addressBlock(actor.ip);
}
