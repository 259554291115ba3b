/** Probes of an application's legal URLs: done through the guarded outbound client, remembered with their result. */
import type { Actor } from '../../core/actor.ts';
import { type Clock, isoTime, SECOND } from '../../core/clock.ts';
import type { Database } from '../../db/database.ts';
import { type GuardedFetch, OutboundError } from '../../outbound/guarded-fetch.ts';
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

/** A probe takes five seconds at most, redirects included, and goes through the guarded way out. */
export function legalUrlService({ db, clock, outbound }: { db: Database; clock: Clock; outbound: GuardedFetch }) {
  /** Follows redirects itself, so that every hop passes the guard; one deadline for all of them. */
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

  /** Probes in parallel, then keeps what was found in one change. */
  async function probeAll(actor: Actor, application: Application, kinds: readonly LegalUrlKind[]): Promise<void> {
    const urls = urlsOf(application);
    const found = await Promise.all(
      kinds.flatMap((kind) => {
        const url = urls[kind];
        return url === null ? [] : [probe(url).then((result) => ({ kind, url, ...result, checkedAt: clock.now() }))];
      }),
    );
    if (found.length === 0) return;
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
    /** What is known; a URL that has not been probed since it was set is probed now. */
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

    /** Probes every URL again. */
    async recheck(actor: Actor, application: Application): Promise<UrlChecks> {
      await probeAll(actor, application, LEGAL_URL_KINDS);
      return report(application);
    },
  };
}

function urlsOf({ termsUrl, privacyUrl, imprintUrl }: Application): Record<LegalUrlKind, string | null> {
  return { terms: termsUrl, privacy: privacyUrl, imprint: imprintUrl };
}
