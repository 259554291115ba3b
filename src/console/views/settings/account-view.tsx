/** Parts and fields of the account page that an application shows to its people. */
import { ACCOUNT_FIELDS, type AccountField, OPTIONAL_PARTS, type OptionalPart } from '../../../core/account-view.ts';
import type { ApplicationViewProps } from '../../application-view.ts';
import { Panel } from '../../components/panel.tsx';
import { SettingsForm } from './settings-form.tsx';
import { useApplicationPatch } from './use-application-patch.ts';
import { useDraft } from './use-draft.ts';

const PARTS: Readonly<Record<OptionalPart, string>> = {
  profile: 'Profile',
  addresses: 'Addresses and companies',
  applications: 'Applications the person uses',
};

const FIELDS: Readonly<Record<AccountField, string>> = {
  avatar: 'Picture',
  banner: 'Banner',
  names: 'Names',
  username: 'Username',
  locale: 'Language of pages and mails',
  region: 'Region: country, currency, units, time zone',
  languages: 'Languages spoken',
  addresses: 'Addresses',
  entities: 'Companies the person acts for',
};

export function AccountViewSettings({ application }: ApplicationViewProps) {
  const patch = useApplicationPatch(application);
  const { parts, fields } = application.account;
  const draft = useDraft({ parts, fields }, (account) => patch({ account }));
  return (
    <div class="settings-parts">
      <Panel
        title="Account page"
        lead="Shown at /account. Sign-in, devices and data always are, and people can still change hidden fields by the API."
      >
        <SettingsForm
          id="account-view"
          draft={draft}
          fields={[
            {
              kind: 'choices',
              id: 'account-parts',
              name: 'parts',
              path: 'account.parts',
              label: 'Parts',
              choices: OPTIONAL_PARTS.map((value) => ({ value, label: PARTS[value] })),
              clean: (chosen) => OPTIONAL_PARTS.filter((part) => chosen.includes(part)),
            },
            {
              kind: 'choices',
              id: 'account-fields',
              name: 'fields',
              path: 'account.fields',
              label: 'Fields',
              choices: ACCOUNT_FIELDS.map((value) => ({ value, label: FIELDS[value] })),
              clean: (chosen) => ACCOUNT_FIELDS.filter((field) => chosen.includes(field)),
            },
          ]}
        />
      </Panel>
    </div>
  );
}
