/** The languages a person speaks, and how well. A language is known by its tag; there is one entry for each. */
import { and, asc, eq } from 'drizzle-orm';
import type { Actor } from '../../core/actor.ts';
import { AppError } from '../../core/error.ts';
import type { SessionPrincipal } from '../../core/principal.ts';
import { userLanguages } from '../../db/schema/users.ts';
import type { Page } from '../../db/page.ts';
import type { Database } from '../../db/unit-of-work.ts';
import { recordChange } from './change.ts';
import { completeFields } from './fields.ts';
import { type Language, LANGUAGE_RULES, MAX_ENTRIES } from './model.ts';

export type Languages = ReturnType<typeof languageService>;

export function languageService(db: Database) {
  function rowsOf(userId: string): Language[] {
    return db.orm
      .select({ code: userLanguages.code, level: userLanguages.level })
      .from(userLanguages)
      .where(eq(userLanguages.userId, userId))
      .orderBy(asc(userLanguages.code))
      .all();
  }

  /** @throws {AppError} not_found */
  function find(userId: string, code: string): Language {
    const row = rowsOf(userId).find((language) => language.code === code);
    if (!row) throw new AppError('not_found');
    return row;
  }

  return {
    /** In the order of their tags; there are few enough for one page. */
    list: ({ userId }: SessionPrincipal): Page<Language> => ({ items: rowsOf(userId), nextCursor: null }),

    /**
     * Adding what is there already changes nothing.
     *
     * @throws {AppError} invalid_request, conflict where the language is there at another level, invalid_state
     */
    add(actor: Actor, principal: SessionPrincipal, { code: tag, level }: Language): Language {
      const { code } = completeFields(LANGUAGE_RULES, { code: tag });
      const { userId } = principal;
      return db.write(actor, (unit) => {
        const rows = rowsOf(userId);
        const known = rows.find((language) => language.code === code);
        if (known?.level === level) return known;
        if (known)
          throw new AppError('conflict', { message: 'You have this language already; change its level with PATCH.' });
        if (rows.length >= MAX_ENTRIES)
          throw new AppError('invalid_state', {
            message: `You can have at most ${MAX_ENTRIES} languages; delete one first.`,
          });
        unit.tx.insert(userLanguages).values({ userId, code, level }).run();
        const fields = ['code', 'level'];
        recordChange(unit, principal, { categories: ['languages'], change: 'added', fields });
        return { code, level };
      });
    },

    /** @throws {AppError} invalid_request, not_found */
    update(actor: Actor, principal: SessionPrincipal, { code: tag, level }: Language): Language {
      const { code } = completeFields(LANGUAGE_RULES, { code: tag });
      return db.write(actor, (unit) => {
        if (find(principal.userId, code).level === level) return { code, level };
        unit.tx.update(userLanguages).set({ level }).where(entry(principal, code)).run();
        recordChange(unit, principal, { categories: ['languages'], change: 'changed', fields: ['level'] });
        return { code, level };
      });
    },

    /** @throws {AppError} invalid_request, not_found */
    remove(actor: Actor, principal: SessionPrincipal, tag: string): { code: string } {
      const { code } = completeFields(LANGUAGE_RULES, { code: tag });
      return db.write(actor, (unit) => {
        find(principal.userId, code);
        unit.tx.delete(userLanguages).where(entry(principal, code)).run();
        recordChange(unit, principal, { categories: ['languages'], change: 'removed', fields: [] });
        return { code };
      });
    },
  };
}

const entry = ({ userId }: SessionPrincipal, code: string) =>
  and(eq(userLanguages.userId, userId), eq(userLanguages.code, code));
