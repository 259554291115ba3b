/** Setup links: single-use, for whoever controls the server, to make the first owner or to let one back in. */
import { and, eq, gt, isNull } from 'drizzle-orm';
import { type Actor, SYSTEM_ACTOR } from '../../core/actor.ts';
import { type Clock, HOUR, isoTime } from '../../core/clock.ts';
import { normalizeEmail } from '../../core/email.ts';
import { AppError, invalidField } from '../../core/error.ts';
import type { Random } from '../../core/random.ts';
import { hashSecret, isSecret, mintSecret } from '../../core/secret.ts';
import type { Application } from '../../db/schema/applications.ts';
import { setupLinks } from '../../db/schema/credentials.ts';
import type { Database } from '../../db/unit-of-work.ts';
import type { Sessions } from '../sessions/service.ts';
import { completeSignIn } from '../sign-in/complete.ts';
import type { Workspaces } from '../workspace/service.ts';
import type { SetupDone, SetupInput } from './model.ts';

const LINK_LIFETIME_MS = 24 * HOUR;

export interface SetupDependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly random: Random;
  readonly workspaces: Workspaces;
  readonly sessions: Sessions;
  readonly findApplication: (id: string) => Application | undefined;
}

export type Setup = ReturnType<typeof setupService>;

export function setupService({ db, clock, random, workspaces, sessions, findApplication }: SetupDependencies) {
  const isOpen = (token: string, now: number) =>
    and(
      eq(setupLinks.tokenHash, Buffer.from(hashSecret(token))),
      isNull(setupLinks.consumedAt),
      gt(setupLinks.expiresAt, now),
    );

  return {
    createLink: () => createSetupToken(db, random),

    /** Whether a token would be taken; tells a stranger nothing, since a made-up one never would. */
    isValid(token: string): boolean {
      if (!isSecret('setup', token)) return false;
      return db.orm.select().from(setupLinks).where(isOpen(token, clock.now())).get() !== undefined;
    },

    /**
     * Uses the link up and signs its holder in to the console as an owner.
     *
     * @throws {AppError} not_found for a link that is wrong, used or expired; invalid_request, which leaves it unused.
     */
    complete(actor: Actor, { token, email: text }: SetupInput, userAgent: string | null): SetupDone {
      const email = normalizeEmail(text);
      if (!isSecret('setup', token)) throw linkGone();
      if (email === null) throw invalidField('email', 'Give an e-mail address, such as ada@example.com.');
      return db.write(actor, (unit) => {
        const used = unit.tx
          .update(setupLinks)
          .set({ consumedAt: unit.now })
          .where(isOpen(token, unit.now))
          .returning()
          .all();
        if (used.length === 0) throw linkGone();
        const workspaceId = workspaces.firstWorkspace(unit)!;
        const { userId } = workspaces.ensureOwner(unit, workspaceId, email);
        const application = findApplication(workspaces.consoleId())!;
        const identity = { person: { email, isEmailProven: false }, method: 'setup', userAgent } as const;
        const outcome = completeSignIn(unit, sessions, application, identity);
        if (!outcome.ok) throw new AppError(outcome.refusal);
        unit.audit({ kind: 'setup.completed', workspaceId, userId, email });
        const { token: session, expiresAt, applicationId } = outcome;
        return { token: session, expiresAt: isoTime(expiresAt), userId, applicationId, workspaceId };
      });
    },
  };
}

/** A fresh token, good for 24 hours and one use; earlier unused ones stop working. */
export function createSetupToken(db: Database, random: Random): string {
  const token = mintSecret('setup', random);
  return db.write(SYSTEM_ACTOR, (unit) => {
    unit.tx.delete(setupLinks).where(isNull(setupLinks.consumedAt)).run();
    unit.tx
      .insert(setupLinks)
      .values({
        tokenHash: Buffer.from(hashSecret(token)),
        createdAt: unit.now,
        expiresAt: unit.now + LINK_LIFETIME_MS,
      })
      .run();
    unit.audit({ kind: 'setup.link_created' });
    return token;
  });
}

function linkGone(): AppError {
  return new AppError('not_found', {
    message: 'This setup link is not valid any more; run "gatehouse setup-link" on the server for a fresh one.',
  });
}
