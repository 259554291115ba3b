/** Where an application's pages and mails lead: its home, and those who run it. */
import type { ApplicationViewProps } from '../../application-view.ts';
import { Panel } from '../../components/panel.tsx';
import { SettingsForm } from './settings-form.tsx';
import { textsToKeep } from './texts-to-keep.ts';
import { useApplicationPatch } from './use-application-patch.ts';
import { useDraft } from './use-draft.ts';

export function Contact({ application }: ApplicationViewProps) {
  const patch = useApplicationPatch(application);
  const { homeUrl, supportUrl, supportEmail } = application.branding;
  const kept = { homeUrl: homeUrl ?? '', supportUrl: supportUrl ?? '', supportEmail: supportEmail ?? '' };
  const draft = useDraft(kept, (changed) => patch({ branding: textsToKeep(changed) }));
  return (
    <Panel title="Home and support" lead="Where pages lead a person who cannot continue. Mails name the support.">
      <SettingsForm
        id="contact"
        draft={draft}
        fields={[
          {
            kind: 'url',
            id: 'home-url',
            name: 'homeUrl',
            path: 'branding.homeUrl',
            label: 'Home',
            placeholder: 'https://',
            hint: 'Pages lead back here. Without it, they lead to the origin of the first return URL.',
          },
          {
            kind: 'url',
            id: 'support-url',
            name: 'supportUrl',
            path: 'branding.supportUrl',
            label: 'Support page',
            placeholder: 'https://',
            hint: `Shown where somebody cannot sign in, as “Write to ${application.name}”.`,
          },
          {
            kind: 'email',
            id: 'support-email',
            name: 'supportEmail',
            path: 'branding.supportEmail',
            label: 'Support address',
            placeholder: 'help@example.com',
            hint: 'Used on pages while there is no support page.',
          },
        ]}
      />
    </Panel>
  );
}
