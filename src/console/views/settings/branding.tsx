/** Logo and colour of an application, with a preview of its sign-in page. */
import { useEffect, useState } from 'preact/hooks';
import { api, ask } from '../../api.ts';
import { Panel } from '../../components/panel.tsx';
import { useLoaded } from '../../data.ts';
import { lazyView } from '../../lazy-view.tsx';
import type { ApplicationViewProps } from '../../application-view.ts';
import { AccentField } from './accent-field.tsx';
import { SettingsForm } from './settings-form.tsx';
import { useApplicationPatch } from './use-application-patch.ts';
import { useDraft } from './use-draft.ts';

/** Loaded lazily, because it contains the hosted pages' components and texts. */
const SignInPreview = lazyView(async () => (await import('./sign-in-preview.tsx')).SignInPreview);

const TYPING_MS = 300;

export function Branding({ application }: ApplicationViewProps) {
  const patch = useApplicationPatch(application);
  const { logoUrl, accentColor } = application.branding;
  const kept = { logoUrl: logoUrl ?? '', accentColor: accentColor ?? '' };
  const draft = useDraft(kept, ({ logoUrl, accentColor }) =>
    patch({
      branding: {
        ...(logoUrl !== undefined && { logoUrl: logoUrl.trim() || null }),
        ...(accentColor !== undefined && { accentColor: accentColor.trim() || null }),
      },
    }),
  );
  const provider = useLoaded(
    () => ask(api.GET('/api/applications/{id}/identity-provider', { params: { path: { id: application.id } } })),
    [application.id],
  );
  const logo = useSettled(draft.values.logoUrl.trim());
  const problem = useLogoProblem(logo);
  return (
    <div class="branding">
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
              label: 'Logo',
              placeholder: 'https://',
              hint:
                problem ??
                'The https address of a picture, wide or square. Without one, the first letter of the name is shown.',
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
      <Panel title="Sign-in page" lead="As people see it, in light and dark mode.">
        <SignInPreview
          application={application}
          logoUrl={logo || null}
          accentColor={draft.values.accentColor.trim() || null}
          providerName={provider.data?.name ?? null}
        />
      </Panel>
    </div>
  );
}

function useSettled(value: string): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), TYPING_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
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
