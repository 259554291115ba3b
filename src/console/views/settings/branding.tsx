/** Logo, colour, home and support of an application, with a preview of its sign-in page. */
import { useEffect, useState } from 'preact/hooks';
import { api, ask } from '../../api.ts';
import { Panel } from '../../components/panel.tsx';
import { useLoaded } from '../../data.ts';
import { lazyView } from '../../lazy-view.tsx';
import type { ApplicationViewProps } from '../../application-view.ts';
import { uploadedImagePath } from '../../../core/application-images.ts';
import { brandOf } from '../../../pages/application-brand.ts';
import { AccentField } from './accent-field.tsx';
import { BrandImages } from './brand-images.tsx';
import { Contact } from './contact.tsx';
import { SettingsForm } from './settings-form.tsx';
import { textsToKeep } from './texts-to-keep.ts';
import { useApplicationPatch } from './use-application-patch.ts';
import { useDraft } from './use-draft.ts';
import { useSettled } from './use-settled.ts';

/** Loaded lazily, because it contains the hosted pages' components and texts. */
const SignInPreview = lazyView(async () => (await import('./sign-in-preview.tsx')).SignInPreview);

export function Branding({ application }: ApplicationViewProps) {
  const patch = useApplicationPatch(application);
  const { logoUrl, accentColor } = application.branding;
  const isUploaded = uploadedImagePath(logoUrl, application.id) !== null;
  const kept = { logoUrl: isUploaded ? '' : (logoUrl ?? ''), accentColor: accentColor ?? '' };
  const draft = useDraft(kept, (changed) => patch({ branding: textsToKeep(changed) }));
  const provider = useLoaded(
    () => ask(api.GET('/api/applications/{id}/identity-provider', { params: { path: { id: application.id } } })),
    [application.id],
  );
  const logo = useSettled(draft.values.logoUrl.trim());
  const problem = useLogoProblem(logo);
  const brand = brandOf({ ...application, ...application.branding });
  return (
    <div class="branding">
      <div class="branding-parts">
        <Panel title="Branding" lead="Used on the sign-in page, the account page and in mails.">
          <SettingsForm
            id="branding"
            draft={draft}
            fields={[
              {
                kind: 'url',
                id: 'logo-url',
                name: 'logoUrl',
                path: 'branding.logoUrl',
                label: 'Address of the logo',
                placeholder: 'https://',
                hint:
                  problem ??
                  (isUploaded
                    ? 'The uploaded logo is used. An address here takes its place.'
                    : 'The https address of a picture on another host, for a logo that is not uploaded.'),
              },
              {
                kind: 'custom',
                name: 'accentColor',
                render: ({ value, set, errorOf }) => (
                  <AccentField id="accent-color" value={value} error={errorOf('branding.accentColor')} onChange={set} />
                ),
              },
            ]}
          />
        </Panel>
        <BrandImages application={application} />
        <Contact application={application} />
      </div>
      <Panel title="Sign-in page" lead="As people see it, in light and dark mode.">
        <SignInPreview
          application={application}
          logoUrl={logo || brand.logoUrl}
          logoDarkUrl={brand.logoDarkUrl}
          accentColor={draft.values.accentColor.trim() || null}
          providerName={provider.data?.name ?? null}
        />
      </Panel>
    </div>
  );
}

/** Returns why pages would not show the logo; null if they would, or without a logo. */
function useLogoProblem(url: string): string | null {
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    setProblem(null);
    if (url === '') return;
    if (!url.startsWith('https://')) return setProblem('Pages show it only from an https address.');
    let isOver = false;
    const picture = new Image();
    picture.onerror = () => !isOver && setProblem('No picture could be loaded from this address.');
    picture.src = url;
    return () => void (isOver = true);
  }, [url]);
  return problem;
}
