/** The application's own line in each of its mails, with a preview of the mail in the chosen language. */
import { useState } from 'preact/hooks';
import type { Locale } from '../../../core/locale.ts';
import { SelectField } from '../../../pages/components/select-field.tsx';
import { api, ask, type Schemas } from '../../api.ts';
import type { ApplicationViewProps } from '../../application-view.ts';
import { FailureNote } from '../../components/failure-note.tsx';
import { count } from '../../components/format.ts';
import { languageOf, languages } from '../../components/languages.ts';
import { Panel } from '../../components/panel.tsx';
import { useLoaded } from '../../data.ts';
import { MailPreview } from './mail-preview.tsx';
import { SettingsForm } from './settings-form.tsx';
import { useDraft } from './use-draft.ts';

type Kind = Schemas['MailKind'];
type Lines = Readonly<Record<string, string>>;

const KINDS: Readonly<Record<Kind, string>> = {
  sign_in_code: 'Sign-in code',
  confirmation_code: 'Code to confirm an action',
  new_sign_in: 'New sign-in',
  account_change: 'Change of an account',
  account_deleted: 'Account deleted',
  invitation: 'Invitation',
  waitlist_approved: 'Waitlist: approved',
  waitlist_declined: 'Waitlist: not yet',
  waitlist_launched: 'Waitlist: now open',
};

const MAX_LINE = 500;

const MAILS = Object.entries(KINDS).map(([value, label]) => ({ value, label }));

const keyOf = (mail: Kind, locale: Locale) => `${mail} ${locale}`;

export function Mails({ application }: ApplicationViewProps) {
  const { id } = application;
  const [mail, setMail] = useState<Kind>('sign_in_code');
  const [locale, setLocale] = useState<Locale>('en');
  const path = { params: { path: { id } } };
  const lines = useLoaded(() => ask(api.GET('/api/applications/{id}/mail-lines', path)), [id]);
  const items = lines.data?.lines ?? [];

  /** Saves the changed lines, one after the other. */
  const draft = useDraft<Lines>(keptLines(items), async (changed) => {
    let outcome = await ask(api.GET('/api/applications/{id}/mail-lines', path));
    for (const [key, line] of Object.entries(changed)) {
      const [kind, language] = key.split(' ') as [Kind, Locale];
      const body = { mail: kind, locale: language, line: line?.trim() || null };
      outcome = await ask(api.PUT('/api/applications/{id}/mail-lines', { ...path, body }));
      if (!outcome.ok) return outcome;
    }
    if (outcome.ok) lines.set(outcome.data);
    return outcome;
  });

  if (lines.failure) return <FailureNote failure={lines.failure} onRetry={lines.reload} />;
  if (!lines.data) return null;
  const name = keyOf(mail, locale);
  const written = items.filter((one) => one.mail === mail).map((one) => languageOf(one.locale));
  const line = draft.values[name] ?? '';
  return (
    <div class="branding">
      <Panel title="Mails" lead="A line of your own above the foot of a mail. The code or the link always stays.">
        <SelectField
          id="mail-kind"
          label="Mail"
          value={mail}
          choices={MAILS}
          onChoose={(value) => setMail(value as Kind)}
        />
        <SelectField
          id="mail-locale"
          label="Language"
          value={locale}
          choices={languages()}
          hint={written.length === 0 ? 'No language has a line yet.' : `With a line: ${written.join(', ')}.`}
          onChoose={(value) => setLocale(value as Locale)}
        />
        <SettingsForm
          id="mail-line"
          draft={draft}
          fields={[
            {
              kind: 'textarea',
              id: 'line',
              name,
              path: 'line',
              label: 'Line',
              rows: 4,
              hint: `Plain text, ${count(line.length)} of ${count(MAX_LINE)} characters. Mails in other languages have their own line, or none.`,
            },
          ]}
        />
      </Panel>
      <Panel title="Preview" lead="As people get it, with sample values, in light and dark mode.">
        <MailPreview applicationId={id} mail={mail} locale={locale} line={line} />
      </Panel>
    </div>
  );
}

function keptLines(items: Schemas['MailLines']['lines']): Lines {
  const none = Object.keys(KINDS).flatMap((mail) => languages().map(({ value }) => [keyOf(mail as Kind, value), '']));
  return {
    ...Object.fromEntries(none),
    ...Object.fromEntries(items.map((one) => [keyOf(one.mail, one.locale), one.line])),
  };
}
