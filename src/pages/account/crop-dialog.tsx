/** Crops a picture to its display shape before upload, by dragging, arrow keys and a zoom slider. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Failure } from '../browser/api.ts';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { FieldError } from '../components/field.tsx';
import { useTexts } from '../components/texts.tsx';
import type { OwnAccount } from './account-api.ts';
import { useAccount } from './account-context.tsx';
import { type Crop, MAX_ZOOM, partOf, wholeCrop, within } from './crop.ts';
import { accountFailureText } from './failure-words.ts';

/** Maximum widths the server stores. */
const SHAPES = { avatar: { ratio: 1, width: 1200 }, banner: { ratio: 3, width: 2400 } } as const;
const FRAME_WIDTH = 640;
const SERVER_MEGABYTES = 10;

const STEP = 0.04;
const ARROWS: Readonly<Record<string, readonly [number, number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

interface CropDialogProps {
  readonly kind: keyof typeof SHAPES;
  readonly image: ImageBitmap;
  onSaved(): void;
  onClose(): void;
}

export function CropDialog({ kind, image, onSaved, onClose }: CropDialogProps) {
  const text = useTexts();
  const { api, change } = useAccount();
  const { ratio, width } = SHAPES[kind];
  const canvas = useRef<HTMLCanvasElement>(null);
  const grip = useRef<{ readonly x: number; readonly y: number } | null>(null);
  const [crop, setCrop] = useState<Crop>(() => wholeCrop(image));
  const [isSending, setIsSending] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const move = (to: (before: Crop) => Crop) => setCrop((before) => within(image, ratio, to(before)));
  const enlarge = (factor: number) => move((before) => ({ ...before, zoom: before.zoom * factor }));

  useEffect(() => {
    if (canvas.current) draw(canvas.current, image, partOf(image, ratio, crop));
  }, [crop, image]);
  // Frees the bitmap at once; large pictures would pile up until garbage collection.
  useEffect(() => () => image.close(), []);

  function shift(right: number, down: number): void {
    const shown = partOf(image, ratio, crop);
    move(({ x, y, zoom }) => ({ x: x + right * shown.width, y: y + down * shown.height, zoom }));
  }

  function onPointerMove(event: PointerEvent): void {
    const from = grip.current;
    const box = canvas.current?.getBoundingClientRect();
    if (!from || !box) return;
    grip.current = { x: event.clientX, y: event.clientY };
    shift((from.x - event.clientX) / box.width, (from.y - event.clientY) / box.height);
  }

  function onKeyDown(event: KeyboardEvent): void {
    const arrow = ARROWS[event.key];
    if (arrow) shift(arrow[0] * STEP, arrow[1] * STEP);
    else if (event.key === '+' || event.key === '=') enlarge(1.1);
    else if (event.key === '-') enlarge(1 / 1.1);
    else return;
    event.preventDefault();
  }

  async function send(): Promise<void> {
    if (isSending) return;
    setError(null);
    setIsSending(true);
    const form = new FormData();
    form.append('file', await cut(image, partOf(image, ratio, crop), width), kind);
    const outcome = await api.upload<Uploaded>(`/api/account/self/images/${kind}`, form);
    if (!outcome.ok) {
      setIsSending(false);
      return setError(refusalText(outcome));
    }
    await change(shownAs(kind, outcome.data), () => Promise.resolve(outcome));
    onSaved();
  }

  function refusalText(failure: Failure): string {
    if (failure.code === 'payload_too_large') return text('account.picture.tooLarge', { megabytes: SERVER_MEGABYTES });
    if (failure.code === 'invalid_request' || failure.code === 'unsupported_media_type')
      return text('account.picture.unreadable');
    return accountFailureText(text, failure);
  }

  return (
    <Dialog id="crop-dialog" title={text('account.picture.cropTitle')} onClose={onClose}>
      <p class="lead" id="crop-lead">
        {text('account.picture.cropLead')}
      </p>
      <canvas
        ref={canvas}
        class={`crop ${kind}`}
        width={FRAME_WIDTH}
        height={FRAME_WIDTH / ratio}
        tabIndex={0}
        role="application"
        aria-label={text('account.picture.cropArea')}
        aria-describedby="crop-lead"
        onKeyDown={onKeyDown}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          grip.current = { x: event.clientX, y: event.clientY };
        }}
        onPointerMove={onPointerMove}
        onPointerUp={() => (grip.current = null)}
        onPointerCancel={() => (grip.current = null)}
        onWheel={(event) => {
          event.preventDefault();
          enlarge(event.deltaY < 0 ? 1.05 : 1 / 1.05);
        }}
      />
      <label class="zoom" for="crop-zoom">
        <span>{text('account.picture.zoom')}</span>
        <input
          id="crop-zoom"
          type="range"
          min={1}
          max={MAX_ZOOM}
          step={0.01}
          value={crop.zoom}
          onInput={({ currentTarget: { valueAsNumber } }) => move((before) => ({ ...before, zoom: valueAsNumber }))}
        />
      </label>
      <FieldError id="crop" error={error} />
      <div class="dialog-actions">
        <Button look="plain" onClick={onClose}>
          {text('account.cancel')}
        </Button>
        <Button id="crop-save" busyText={isSending && text('account.picture.uploading')} onClick={() => void send()}>
          {text('account.picture.use')}
        </Button>
      </div>
    </Dialog>
  );
}

interface Uploaded {
  readonly url: string;
  readonly sizes: readonly number[];
  readonly updatedAt: string;
}

function shownAs(kind: CropDialogProps['kind'], { url, sizes, updatedAt }: Uploaded): Partial<OwnAccount> {
  return kind === 'avatar'
    ? { avatarUrl: url, avatarSizes: sizes, avatarUpdatedAt: updatedAt }
    : { bannerSizes: sizes, bannerUpdatedAt: updatedAt };
}

type Part = ReturnType<typeof partOf>;

function draw(canvas: HTMLCanvasElement, image: ImageBitmap, { left, top, width, height }: Part): void {
  const context = canvas.getContext('2d');
  if (!context) return;
  context.clearRect(0, 0, canvas.width, canvas.height);
  context.imageSmoothingQuality = 'high';
  context.drawImage(image, left, top, width, height, 0, 0, canvas.width, canvas.height);
}

/** Never enlarges. Falls back to PNG in browsers that cannot encode WebP; the server accepts both. */
function cut(image: ImageBitmap, part: Part, maxWidth: number): Promise<Blob> {
  const canvas = document.createElement('canvas');
  canvas.width = Math.max(1, Math.round(Math.min(maxWidth, part.width)));
  canvas.height = Math.max(1, Math.round((canvas.width * part.height) / part.width));
  draw(canvas, image, part);
  return new Promise((resolve) => canvas.toBlob((blob) => resolve(blob ?? new Blob()), 'image/webp', 0.92));
}
