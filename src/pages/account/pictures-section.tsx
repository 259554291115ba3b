/** Avatar and banner: chosen or dropped, cropped before upload, and removed. */
import { UserRound } from 'lucide';
import { useRef, useState } from 'preact/hooks';
import { Button } from '../components/button.tsx';
import { ConfirmDialog } from '../components/confirm-dialog.tsx';
import { FieldError } from '../components/field.tsx';
import { Icon } from '../components/icon.tsx';
import { Section } from '../components/rows.tsx';
import { useTexts } from '../components/texts.tsx';
import { useToast } from '../components/toast.tsx';
import type { OwnAccount } from './account-api.ts';
import { useAccount } from './account-context.tsx';
import { CropDialog } from './crop-dialog.tsx';

type Kind = 'avatar' | 'banner';

/** Limits what the browser has to decode; the upload is much smaller. */
const MAX_MEGABYTES = 25;
const TYPES = 'image/jpeg,image/png,image/webp,image/gif';

const NO_PICTURE: Readonly<Record<Kind, Partial<OwnAccount>>> = {
  avatar: { avatarUrl: null, avatarSizes: null, avatarUpdatedAt: null },
  banner: { bannerSizes: null, bannerUpdatedAt: null },
};

export function PicturesSection() {
  const text = useTexts();
  const { isShown } = useAccount();
  return (
    <Section id="pictures" title={text('account.picture.title')} lead={text('account.picture.lead')}>
      <ul class="rows">
        {isShown('avatar') && <Picture kind="avatar" />}
        {isShown('banner') && <Picture kind="banner" />}
      </ul>
    </Section>
  );
}

function Picture({ kind }: { kind: Kind }) {
  const text = useTexts();
  const toast = useToast();
  const { account, api, change, refresh } = useAccount();
  const [image, setImage] = useState<ImageBitmap | null>(null);
  const [isOver, setIsOver] = useState(false);
  const [isRemoving, setIsRemoving] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const chooser = useRef<HTMLInputElement>(null);
  const camera = useRef<HTMLInputElement>(null);
  const name = text(`account.picture.${kind}`);
  const url = kind === 'avatar' ? account.avatarUrl : bannerUrl(account);
  const isOwn = kind === 'avatar' ? account.avatarSizes !== null : account.bannerSizes !== null;

  /** Opens the crop dialog if this browser can decode the file. */
  async function take(file: File | undefined): Promise<void> {
    if (!file) return;
    setProblem(null);
    if (file.size > MAX_MEGABYTES * 1024 * 1024)
      return setProblem(text('account.picture.tooLarge', { megabytes: MAX_MEGABYTES }));
    try {
      setImage(await createImageBitmap(file));
    } catch {
      setProblem(text('account.picture.unreadable'));
    }
  }

  async function remove(): Promise<void> {
    const path = `/api/account/self/images/${kind}`;
    const outcome = await change(NO_PICTURE[kind], () => api.send('DELETE', path));
    setIsRemoving(false);
    if (!outcome.ok) return;
    toast(text('account.picture.removed'));
    // A provider's picture may replace the removed one.
    await refresh();
  }

  /** Clears the input, so that choosing the same file again fires a change. */
  function takeFrom(input: HTMLInputElement): void {
    const [file] = input.files ?? [];
    void take(file);
    input.value = '';
  }

  const choosing = text(isOwn ? 'account.change' : 'account.picture.choose');
  const label = (action: string) => text('account.actionFor', { action, name });
  return (
    <li
      class="row picture"
      id={kind}
      data-over={isOver ? '' : undefined}
      onDragOver={(event) => {
        event.preventDefault();
        setIsOver(true);
      }}
      onDragLeave={(event) => {
        // Also fires when entering child elements.
        if (!event.currentTarget.contains(event.relatedTarget as Node | null)) setIsOver(false);
      }}
      onDrop={(event) => {
        event.preventDefault();
        setIsOver(false);
        void take(event.dataTransfer?.files[0]);
      }}
    >
      <span class={`picture-shown ${kind}`}>
        {url ? <img src={url} alt={name} /> : kind === 'avatar' && <Icon of={UserRound} size={24} />}
      </span>
      <div class="row-text">
        <div class="row-title">{name}</div>
        <div class="fine">{text(isOver ? 'account.picture.drop' : 'account.picture.dropHint')}</div>
        <FieldError id={`${kind}-file`} error={problem} />
      </div>
      <div class="row-actions">
        <input
          ref={chooser}
          hidden
          id={`${kind}-file`}
          type="file"
          accept={TYPES}
          onChange={(event) => takeFrom(event.currentTarget)}
        />
        <Button
          id={`${kind}-choose`}
          look="small"
          aria-label={label(choosing)}
          aria-describedby={`${kind}-file-error`}
          onClick={() => chooser.current?.click()}
        >
          {choosing}
        </Button>
        {kind === 'avatar' && (
          <span class="on-touch">
            <input
              ref={camera}
              hidden
              type="file"
              accept="image/*"
              capture="user"
              onChange={(event) => takeFrom(event.currentTarget)}
            />
            <Button look="small" onClick={() => camera.current?.click()}>
              {text('account.picture.take')}
            </Button>
          </span>
        )}
        {isOwn && (
          <Button
            id={`${kind}-remove`}
            look="small"
            aria-label={label(text('account.remove'))}
            onClick={() => setIsRemoving(true)}
          >
            {text('account.remove')}
          </Button>
        )}
      </div>
      {image && (
        <CropDialog
          kind={kind}
          image={image}
          onSaved={() => {
            setImage(null);
            toast(text('account.picture.saved'));
          }}
          onClose={() => setImage(null)}
        />
      )}
      {isRemoving && (
        <ConfirmDialog
          id="remove-picture"
          title={text('account.picture.removeTitle')}
          lead={text('account.picture.removeLead')}
          confirmText={text('account.remove')}
          busyText={text('account.removing')}
          onConfirm={remove}
          onClose={() => setIsRemoving(false)}
        />
      )}
    </li>
  );
}

/** Uses the smallest size, which is enough for this row. */
function bannerUrl({ userId, applicationId, memberships, bannerSizes, bannerUpdatedAt }: OwnAccount): string | null {
  const slug = memberships.find((membership) => membership.applicationId === applicationId)?.slug;
  const size = bannerSizes?.[0];
  if (slug === undefined || size === undefined || bannerUpdatedAt === null) return null;
  return `/cdn/${slug}/users/${userId}/banner-${size}.webp?v=${Date.parse(bannerUpdatedAt)}`;
}
