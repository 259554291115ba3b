/** Links to an application's legal pages, and whether they are reachable. */
import { api, ask, type Schemas } from '../../api.ts';
import { Action, useReport } from '../../components/action.tsx';
import { FailureNote } from '../../components/failure-note.tsx';
import type { FormField } from '../../components/form-fields.tsx';
import { Panel } from '../../components/panel.tsx';
import { Status, type Tone } from '../../components/status.tsx';
import { Time } from '../../components/time.tsx';
import { useLoaded } from '../../data.ts';
import type { ApplicationViewProps } from '../../application-view.ts';
import { SettingsForm } from './settings-form.tsx';
import { useApplicationPatch } from './use-application-patch.ts';
import { useDraft } from './use-draft.ts';

type Check = Schemas['UrlChecks']['urls'][number];
type Kind = Check['kind'];

const KINDS: readonly { readonly kind: Kind; readonly label: string }[] = [
  { kind: 'terms', label: 'Terms' },
  { kind: 'privacy', label: 'Privacy policy' },
  { kind: 'imprint', label: 'Imprint' },
];

export function LegalUrls({ application }: ApplicationViewProps) {
  const { terms, privacy, imprint } = application.legalUrls;
  const patch = useApplicationPatch(application);
  const report = useReport();
  const kept: Record<Kind, string> = { terms: terms ?? '', privacy: privacy ?? '', imprint: imprint ?? '' };
  const draft = useDraft(kept, (changed) => {
    const legalUrls = Object.fromEntries(Object.entries(changed).map(([kind, url]) => [kind, url.trim() || null]));
    return patch({ legalUrls });
  });
  const params = { path: { id: application.id } };
  const checks = useLoaded(
    () => ask(api.GET('/api/applications/{id}/url-check', { params })),
    [application.id, terms, privacy, imprint],
  );

  async function recheck(): Promise<void> {
    const outcome = await ask(api.POST('/api/applications/{id}/recheck-urls', { params }));
    if (report(outcome, 'Checked.')) checks.set(outcome.data);
  }

  return (
    <Panel
      title="Legal URLs"
      lead="Linked at the bottom of every page. This server checks that they answer."
      action={
        (terms ?? privacy ?? imprint) !== null && (
          <Action id="recheck-urls" onClick={recheck}>
            Check again
          </Action>
        )
      }
    >
      <SettingsForm
        id="legal-urls"
        draft={draft}
        fields={KINDS.map(({ kind, label }): FormField<typeof kept> => ({
          kind: 'url',
          id: `${kind}-url`,
          name: kind,
          path: `legalUrls.${kind}`,
          label,
          placeholder: 'https://',
          hint: kept[kind] !== '' && draft.values[kind] === kept[kind] && (
            <Probe check={checks.data?.urls.find((check) => check.kind === kind)} isLoading={checks.isLoading} />
          ),
        }))}
      />
      {checks.failure && <FailureNote failure={checks.failure} onRetry={checks.reload} />}
    </Panel>
  );
}

function Probe({ check, isLoading }: { readonly check: Check | undefined; readonly isLoading: boolean }) {
  if (!check) return <>{isLoading ? 'Checking whether it answers…' : ''}</>;
  const { tone, words } = wordsOf(check);
  return (
    <span class="probe">
      <Status tone={tone}>{words}</Status>
      {check.checkedAt && (
        <span>
          checked <Time at={check.checkedAt} />
        </span>
      )}
    </span>
  );
}

function wordsOf({ status, finalCode }: Check): { readonly tone: Tone; readonly words: string } {
  switch (status) {
    case 'ok':
      return { tone: 'good', words: 'It answers' };
    case 'broken':
      return { tone: 'bad', words: finalCode === null ? 'The host does not exist' : `It answers with ${finalCode}` };
    case 'refused':
      return { tone: 'warn', words: 'Not a public address' };
    case 'unreachable':
      return { tone: 'bad', words: 'It does not answer' };
    case 'missing':
      return { tone: 'calm', words: 'Not set' };
  }
}
