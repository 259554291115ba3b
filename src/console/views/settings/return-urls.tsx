/** Return URLs of an application, one per line; names invalid ones. */
import { parseReturnUrl } from '../../../core/return-url.ts';
import type { Failure } from '../../api.ts';
import { Panel } from '../../components/panel.tsx';
import type { ApplicationViewProps } from '../../application-view.ts';
import { SettingsForm } from './settings-form.tsx';
import { linesOf, nameEntries, quoted } from './uri-lines.ts';
import { useApplicationPatch } from './use-application-patch.ts';
import { useDraft } from './use-draft.ts';

const MIN_ROWS = 4;

export function ReturnUrls({ application }: ApplicationViewProps) {
  const patch = useApplicationPatch(application);
  const draft = useDraft({ lines: application.returnUrls.join('\n') }, async ({ lines = '' }) => {
    const urls = linesOf(lines);
    const refused = refusedOf(urls);
    return refused ?? nameEntries(await patch({ returnUrls: urls }), { returnUrls: urls });
  });
  const { lines } = draft.values;
  return (
    <Panel
      title="Return URLs"
      lead="Where the sign-in page may send people back to, with their session token. An address allows itself and everything below it, on the same host and port."
    >
      <SettingsForm
        id="return-urls"
        draft={draft}
        fields={[
          {
            kind: 'textarea',
            id: 'return-urls-lines',
            name: 'lines',
            path: 'returnUrls',
            label: 'One address per line',
            rows: Math.max(MIN_ROWS, lines.split('\n').length + 1),
            placeholder: 'https://shop.example.com/signed-in',
            hint: (
              <>
                <code>https://shop.example.com/app</code> allows <code>…/app</code> and{' '}
                <code>…/app/done?from=mail</code>, not <code>…/apple</code> and no other host. Use https; http is
                allowed for localhost only, when the server runs with <code>serve --dev</code>.
              </>
            ),
          },
        ]}
      />
    </Panel>
  );
}

/** Reports all invalid URLs at once, unlike the server. The server decides about http on loopback. */
function refusedOf(urls: readonly string[]): Failure | null {
  const refused = urls.filter((url) => !parseReturnUrl(url, true));
  if (refused.length === 0) return null;
  const message = `${quoted(refused)}: give an absolute https address, without user name or fragment.`;
  return { ok: false, status: 400, code: 'invalid_request', message, fields: [{ path: 'returnUrls', message }] };
}
