/** The languages a person speaks, and how well. A language is known by its tag; there is one entry for each. */
import type { Actor } from '../../core/actor.ts';
import { AppError } from '../../core/error.ts';
import type { SessionPrincipal } from '../../core/principal.ts';
import type { Database, Unit } from '../../db/database.ts';
import type { Page } from '../../db/page.ts';
import { deleteLanguage, insertLanguage, listLanguages, updateLanguage } from '../../store/languages.ts';
import { recordChange } from './change.ts';
import { completeFields } from './fields.ts';
import { type Language, LANGUAGE_RULES, MAX_ENTRIES } from './model.ts';

/** Tags are compared in their canonical form. */
export function languageService(db: Database) {
  return {
    /** In the order of their tags; there are few enough for one page. */
    list: async ({ profileId }: SessionPrincipal): Promise<Page<Language>> => ({
      items: await listLanguages(db.reader, profileId),
      nextCursor: null,
    }),

    /**
     * Adding what is there already changes nothing.
     *
     * @throws {AppError} invalid_request, conflict where the language is there at another level, invalid_state
     */
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
