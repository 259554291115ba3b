/** Form for the language of pages and mails, and the time zone. */
import { LOCALES } from '../../core/locale.ts';
import { reloadIn } from '../browser/reload-in.ts';
import { browserTimezone } from '../browser/timing.ts';
import { LANGUAGE_NAMES } from '../components/language-switch.tsx';
import { Section } from '../components/rows.tsx';
import { type SelectChoice, SelectField } from '../components/select-field.tsx';
import { useTexts } from '../components/texts.tsx';
import { useToast } from '../components/toast.tsx';
import type { OwnAccount } from './account-api.ts';
import { useAccount } from './account-context.tsx';
import { nameOf } from './choices.ts';
import { SaveRow } from './save-row.tsx';
import { useTimeZoneChoices, zoneName } from './time-zones.ts';
import { orNull, useForm } from './use-form.ts';

const OURS: readonly SelectChoice[] = LOCALES.map((tag) => ({ value: tag, label: LANGUAGE_NAMES[tag], lang: tag }));

export function LocaleForm() {
  const text = useTexts();
  const toast = useToast();
  const { account, api, change } = useAccount();
  const { locale, timezone } = account.identity;
  const ofBrowser = zoneName(browserTimezone() ?? '');
  // An account without a time zone gets the browser's as a suggestion, stored when the form is saved.
  const form = useForm(
    { locale: locale ?? '', timezone: zoneName(timezone ?? '') },
    () => text('account.field.invalid'),
    { draft: 'locale', suggested: timezone === null ? { timezone: ofBrowser } : {} },
  );
  const { values, errors, set } = form;
  const timeZones = useTimeZoneChoices(values.timezone, ofBrowser, text.locale);

  async function save(): Promise<void> {
    const given = { locale: orNull(values.locale), timezone: orNull(values.timezone) };
    const isSaved = await form.save(() =>
      change(
        { identity: { ...account.identity, ...given } },
        () => api.send<OwnAccount['identity']>('PATCH', '/api/account/profile/identity', given),
        (answer) => ({ identity: answer }),
      ),
    );
    if (!isSaved) return;
    if (given.locale !== null && given.locale !== locale && OURS.some(({ value }) => value === given.locale))
      return reloadIn(given.locale);
    toast(text('account.saved'));
  }

  return (
    <Section id="language-time" title={text('account.profile.localeTitle')} lead={text('account.profile.localeLead')}>
      <form
        noValidate
        id="locale-form"
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <div class="pair">
          <SelectField
            id="locale"
            label={text('account.profile.locale')}
            value={values.locale}
            choices={withPresent(locale, text.locale)}
            none={text('account.profile.localeBrowser')}
            error={errors.locale}
            onChoose={(chosen) => set({ locale: chosen })}
          />
          <SelectField
            id="timezone"
            label={text('account.profile.timezone')}
            value={values.timezone}
            choices={timeZones}
            none={text('account.notChosen')}
            hint={
              values.timezone && text('account.profile.timezoneNow', { time: timeIn(values.timezone, text.locale) })
            }
            error={errors.timezone}
            onChoose={(chosen) => set({ timezone: chosen })}
          />
        </div>
        <SaveRow id="locale-save" isSaving={form.isSaving} isChanged={form.isChanged} />
      </form>
    </Section>
  );
}

/** Adds the current language if the pages do not support it, such as `de-AT`. */
function withPresent(present: string | null, locale: string): readonly SelectChoice[] {
  if (present === null || OURS.some(({ value }) => value === present)) return OURS;
  return [{ value: present, label: nameOf(present, 'language', locale) }, ...OURS];
}

function timeIn(timeZone: string, locale: string): string {
  try {
    return new Intl.DateTimeFormat(locale, { timeZone, timeStyle: 'short' }).format();
  } catch {
    return '';
  }
}
