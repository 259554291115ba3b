/** Uploads of an application's logo, its logo for dark mode, and its icon, each shown on the ground it is for. */
import { useRef, useState } from 'preact/hooks';
import { type ApplicationImage, IMAGE_COLUMNS, uploadedImagePath } from '../../../core/application-images.ts';
import { FieldError } from '../../../pages/components/field.tsx';
import { api, ask } from '../../api.ts';
import type { ApplicationViewProps } from '../../application-view.ts';
import { Action, useReport } from '../../components/action.tsx';
import { Panel } from '../../components/panel.tsx';
import { useFileDrop } from '../../components/use-file-drop.ts';
import { useConsole, useRights } from '../../console-context.tsx';

const MAX_MEGABYTES = 10;
const TYPES = 'image/jpeg,image/png,image/webp,image/gif';

const IMAGES: readonly { readonly kind: ApplicationImage; readonly title: string; readonly hint: string }[] = [
  { kind: 'logo', title: 'Logo', hint: 'Wide or square, 88 pixels high or more.' },
  { kind: 'logo-dark', title: 'Logo in dark mode', hint: 'Without it, the logo is shown there too.' },
  { kind: 'icon', title: 'Icon', hint: 'For browser tabs. Square, 180 pixels or more; else its centre is used.' },
];

export function BrandImages({ application }: ApplicationViewProps) {
  return (
    <Panel title="Logo and icon" lead="JPEG, PNG, WebP or GIF, kept on this server. PNG and WebP may be transparent.">
      <ul class="brand-images">
        {IMAGES.map((image) => (
          <BrandImage key={image.kind} application={application} {...image} />
        ))}
      </ul>
    </Panel>
  );
}

type BrandImageProps = ApplicationViewProps & (typeof IMAGES)[number];

function BrandImage({ application: { id, branding }, kind, title, hint }: BrandImageProps) {
  const { reloadApplications } = useConsole();
  const { canWrite } = useRights();
  const report = useReport();
  const chooser = useRef<HTMLInputElement>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const path = uploadedImagePath(branding[IMAGE_COLUMNS[kind]], id);
  const params = { path: { id, image: kind } };

  async function upload(file: File | undefined): Promise<void> {
    if (!file || !canWrite) return;
    setProblem(null);
    if (file.size > MAX_MEGABYTES * 1024 * 1024)
      return setProblem(`This file is larger than ${MAX_MEGABYTES} MB. Reduce the picture first.`);
    const form = new FormData();
    form.append('file', file);
    const outcome = await ask(
      api.PUT('/api/applications/{id}/branding/{image}', { params, body: { file: '' }, bodySerializer: () => form }),
    );
    if (!outcome.ok) return setProblem(outcome.fields[0]?.message ?? outcome.message);
    await reloadApplications();
    report(outcome, 'Saved.');
  }

  async function remove(): Promise<void> {
    const outcome = await ask(api.DELETE('/api/applications/{id}/branding/{image}', { params }));
    if (outcome.ok) await reloadApplications();
    report(outcome, 'Removed.');
  }

  const dropped = useFileDrop((file) => void upload(file));
  return (
    <li {...dropped}>
      <span class="brand-image" data-kind={kind}>
        {path === null ? <span aria-hidden="true">–</span> : <img id={`${kind}-image`} src={path} alt="" />}
      </span>
      <span class="brand-image-words">
        <strong>{title}</strong>
        <span class="fine">{hint}</span>
      </span>
      <span class="brand-image-actions">
        <input
          ref={chooser}
          class="visually-hidden"
          type="file"
          id={`${kind}-file`}
          accept={TYPES}
          tabIndex={-1}
          aria-label={title}
          onChange={({ currentTarget }) => {
            void upload(currentTarget.files?.[0]);
            currentTarget.value = '';
          }}
        />
        <Action id={`${kind}-upload`} onClick={() => chooser.current?.click()}>
          {path === null ? 'Upload' : 'Replace'}
          <span class="visually-hidden"> {title}</span>
        </Action>
        {path !== null && (
          <Action id={`${kind}-remove`} onClick={remove}>
            Remove<span class="visually-hidden"> {title}</span>
          </Action>
        )}
      </span>
      {problem !== null && <FieldError id={`${kind}-file`} error={problem} />}
    </li>
  );
}
