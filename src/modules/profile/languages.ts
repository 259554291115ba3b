/** The languages a person speaks, and how well; one entry per language tag. */
import type { Actor } from '../../core/actor.ts';
import { AppError } from '../../core/error.ts';
import type { SessionPrincipal } from '../../core/principal.ts';
import type { Database, Unit } from '../../db/database.ts';
import type { Page } from '../../db/page.ts';
import { deleteLanguage, insertLanguage, listLanguages, updateLanguage } from '../../store/languages.ts';
import { recordChange } from './change.ts';
import { completeFields } from '../../http/text-fields.ts';
import { type Language, LANGUAGE_RULES, MAX_ENTRIES } from './model.ts';

/** Compares tags in their canonical form. */
export function languageService(db: Database) {
  return {
    /** Sorted by tag; one page holds them all. */
    list: async ({ profileId }: SessionPrincipal): Promise<Page<Language>> => ({
      items: await listLanguages(db.reader, profileId),
      nextCursor: null,
    }),

    /** Idempotent. @throws {AppError} invalid_request, invalid_state, conflict if listed at another level. */
    async add(actor: Actor, principal: SessionPrincipal, { code: tag, level }: Language): Promise<Language> {
      const { code } = completeFields(LANGUAGE_RULES, { code: tag });
      const { profileId: userId } = principal;
      return db.write(actor, async (unit) => {
        const rows = await listLanguages(unit, userId);
        const known = rows.find((language) => language.code === code);
        if (known?.level === level) return known;
        if (known) throw new AppError('conflict', { hint: 'language_listed' });
        if (rows.length >= MAX_ENTRIES)
          throw new AppError('invalid_state', {
            hint: 'too_many_entries',
            values: { max: MAX_ENTRIES, entries: 'languages' },
          });
        await insertLanguage(unit, userId, { code, level });
        const fields = ['code', 'level'];
        await recordChange(unit, principal, { categories: ['languages'], change: 'added', fields });
        return { code, level };
      });
    },

    /** @throws {AppError} invalid_request, not_found */
    async update(actor: Actor, principal: SessionPrincipal, { code: tag, level }: Language): Promise<Language> {
      const { code } = completeFields(LANGUAGE_RULES, { code: tag });
      return db.write(actor, async (unit) => {
        if ((await find(unit, principal, code)).level === level) return { code, level };
        await updateLanguage(unit, principal.profileId, { code, level });
        await recordChange(unit, principal, { categories: ['languages'], change: 'changed', fields: ['level'] });
        return { code, level };
      });
    },

    /** @throws {AppError} invalid_request, not_found */
    async remove(actor: Actor, principal: SessionPrincipal, tag: string): Promise<{ code: string }> {
      const { code } = completeFields(LANGUAGE_RULES, { code: tag });
      return db.write(actor, async (unit) => {
        await find(unit, principal, code);
        await deleteLanguage(unit, principal.profileId, code);
        await recordChange(unit, principal, { categories: ['languages'], change: 'removed', fields: [] });
        return { code };
      });
    },
  };
}

/** @throws {AppError} not_found */
async function find(unit: Unit, { profileId }: SessionPrincipal, code: string): Promise<Language> {
  const language = (await listLanguages(unit, profileId)).find((spoken) => spoken.code === code);
  if (!language) throw new AppError('not_found');
  return language;
}
