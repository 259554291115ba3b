/** Checks an application's legal URLs through the guarded outbound client and stores the results. */
import type { Actor } from '../../core/actor.ts';
import { type Clock, isoTime, SECOND } from '../../core/clock.ts';
import type { Database } from '../../db/database.ts';
import { type GuardedFetch, OutboundError } from '../../outbound/guarded-fetch.ts';
import type { Probes } from '../../outbound/probes.ts';
import type { Application } from '../../store/applications.ts';
import { recordAudit } from '../../store/audit.ts';
import {
  findLegalUrlChecks,
  LEGAL_URL_KINDS,
  type LegalUrlCheck,
  type LegalUrlKind,
  saveLegalUrlCheck,
} from '../../store/legal-url-checks.ts';
import type { UrlChecks } from './model.ts';

const TIMEOUT_MS = 5 * SECOND;
const MAX_REDIRECTS = 5;
const USER_AGENT = 'Gatehouse link check';

export type LegalUrls = ReturnType<typeof legalUrlService>;

export interface LegalUrlDependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly outbound: GuardedFetch;
  readonly probes: Probes;
}

interface RunningCheck {
  /** Returns whether this check probes all the given URLs. */
  readonly covers: (urls: readonly (readonly [LegalUrlKind, string])[]) => boolean;
  readonly work: Promise<void>;
}

/** A probe takes at most 5 s and one of the workspace's slots. Concurrent callers share an application's one check. */
export function legalUrlService({ db, clock, outbound, probes }: LegalUrlDependencies) {
  /** Running checks by application id. */
  const running = new Map<string, RunningCheck>();

  /** Follows redirects itself, so that every hop passes the guard; one deadline covers all hops. */
  async function probe(url: string): Promise<Pick<LegalUrlCheck, 'status' | 'finalCode'>> {
    const deadline = performance.now() + TIMEOUT_MS;
    let target = url;
    let lastStatus: number | null = null;
    try {
      for (let hop = 0; hop <= MAX_REDIRECTS; hop += 1) {
        const timeoutMs = Math.max(1, Math.round(deadline - performance.now()));
        const { status, headers } = await outbound({
          url: target,
          method: 'GET',
          headers: { 'User-Agent': USER_AGENT, Accept: 'text/html,*/*' },
          timeoutMs,
          maxBytes: 0,
        });
        lastStatus = status;
        const next = status >= 300 && status < 400 && headers.get('location');
        if (!next) return { status: status >= 200 && status < 300 ? 'ok' : 'broken', finalCode: status };
        const resolved = URL.parse(next, target);
        if (!resolved) return { status: 'broken', finalCode: status };
        target = resolved.href;
      }
      return { status: 'broken', finalCode: lastStatus };
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error;
      return { status: error.problem === 'refused' ? 'refused' : 'unreachable', finalCode: null };
    }
  }

  /** Probes the given kinds, or joins a running check that covers them. @throws {AppError} unavailable */
  async function probeAll(actor: Actor, application: Application, kinds: readonly LegalUrlKind[]): Promise<void> {
    const urls = urlsOf(application);
    const wanted = kinds.flatMap((kind) => {
      const url = urls[kind];
      return url === null ? [] : [[kind, url] as const];
    });
    if (wanted.length === 0) return;
    for (let other = running.get(application.id); other; other = running.get(application.id)) {
      if (other.covers(wanted)) return other.work;
      await other.work.catch(() => {});
    }
    const work = probeNow(actor, application, wanted).finally(() => running.delete(application.id));
    const covers: RunningCheck['covers'] = (others) =>
      others.every(([kind, url]) => wanted.some((one) => one[0] === kind && one[1] === url));
    running.set(application.id, { covers, work });
    return work;
  }

  /** Probes in parallel, then stores all results in one transaction. */
  async function probeNow(
    actor: Actor,
    application: Application,
    wanted: readonly (readonly [LegalUrlKind, string])[],
  ): Promise<void> {
    const found = await Promise.all(
      wanted.map(async ([kind, url]) => {
        const result = await probes.run(application.workspaceId, () => probe(url));
        return { kind, url, ...result, checkedAt: clock.now() };
      }),
    );
    await db.write(actor, async (unit) => {
      for (const check of found) await saveLegalUrlCheck(unit, { applicationId: application.id, ...check });
      await recordAudit(unit, {
        kind: 'application.urls_checked',
        applicationId: application.id,
        workspaceId: application.workspaceId,
        targetId: application.id,
        detail: Object.fromEntries(found.map(({ kind, status }) => [kind, status])),
      });
    });
  }

  async function report(application: Application): Promise<UrlChecks> {
    const checks = await findLegalUrlChecks(db.reader, application.id);
    const urls = urlsOf(application);
    return {
      urls: LEGAL_URL_KINDS.map((kind) => {
        const check = checks.get(kind);
        const isCurrent = check !== undefined && check.url === urls[kind];
        return {
          kind,
          url: urls[kind],
          status: urls[kind] === null ? ('missing' as const) : isCurrent ? check.status : ('unreachable' as const),
          finalCode: isCurrent ? check.finalCode : null,
          checkedAt: isCurrent ? isoTime(check.checkedAt) : null,
        };
      }),
    };
  }

  return {
    /** Returns the stored results; first probes URLs not yet probed since they were set. */
    async check(actor: Actor, application: Application): Promise<UrlChecks> {
      const checks = await findLegalUrlChecks(db.reader, application.id);
      const urls = urlsOf(application);
      await probeAll(
        actor,
        application,
        LEGAL_URL_KINDS.filter((kind) => checks.get(kind)?.url !== urls[kind]),
      );
      return report(application);
    },

    async recheck(actor: Actor, application: Application): Promise<UrlChecks> {
      await probeAll(actor, application, LEGAL_URL_KINDS);
      return report(application);
    },
  };
}

function urlsOf({ termsUrl, privacyUrl, imprintUrl }: Application): Record<LegalUrlKind, string | null> {
  return { terms: termsUrl, privacy: privacyUrl, imprint: imprintUrl };
}
