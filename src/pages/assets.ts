/** Serves the bundled assets of the hosted pages, in the best encoding a client takes. Making them is bundle.ts. */

import { matchesEtag } from '../http/etag.ts';
import { generatedAssets, type GeneratedAsset } from './generated/assets.ts';

type Encoding = 'br' | 'gzip' | 'identity';
type Body = Uint8Array<ArrayBuffer>;

/** One asset under its hashed path; its bytes are decoded when they are first asked for. */
export interface Asset {
  readonly path: string;
  readonly contentType: string;
  body(encoding: Encoding): Body;
  etag(encoding: Encoding): string;
}

const assetsByPath = new Map<string, Asset>(
  Object.values(generatedAssets).map((generated) => [generated.path, createAsset(generated)]),
);

/** The address of an asset in this build. An unknown name is a mistake in the page, so it throws. */
export function assetUrl(name: string): string {
  const generated = Object.hasOwn(generatedAssets, name) ? generatedAssets[name] : undefined;
  if (!generated) throw new Error(`no asset is called ${name}; run "bun build.ts --pages"`);
  return generated.path;
}

/** The asset at a request's path, `/assets/…` included. */
export function findAsset(path: string): Asset | undefined {
  return assetsByPath.get(path);
}

/** Answers GET and HEAD. The name holds the content's hash, so that it may be cached for good. */
export function assetResponse(request: Request, asset: Asset): Response {
  const encoding = chooseEncoding(request.headers.get('accept-encoding'));
  const etag = asset.etag(encoding);
  const headers = assetHeaders(etag);
  if (matchesEtag(request.headers.get('if-none-match'), etag)) return new Response(null, { status: 304, headers });

  const body = asset.body(encoding);
  headers.set('Content-Type', asset.contentType);
  headers.set('Content-Length', String(body.byteLength));
  if (encoding !== 'identity') headers.set('Content-Encoding', encoding);
  return new Response(request.method === 'HEAD' ? null : body, { headers });
}

/** What every answer with an asset says, whole or not. */
export function assetHeaders(etag: string): Headers {
  return new Headers({
    'Cache-Control': 'public, max-age=31536000, immutable',
    Vary: 'Accept-Encoding',
    ETag: etag,
    'X-Content-Type-Options': 'nosniff',
  });
}

/** Each encoding is a representation of its own (RFC 9110 §8.8.3). */
export function etagIn(encoding: Encoding, etag: string): string {
  return encoding === 'identity' ? etag : etag.replace(/"$/, `-${encoding}"`);
}

/** The smallest encoding that Accept-Encoding does not rule out (RFC 9110 §12.5.3); identity when in doubt. */
export function chooseEncoding(acceptEncoding: string | null): Encoding {
  const accepted = new Map<string, boolean>();
  for (const item of (acceptEncoding ?? '').slice(0, 500).toLowerCase().split(',')) {
    const [coding = '', ...parameters] = item.split(';').map((part) => part.trim());
    accepted.set(coding, !parameters.some((parameter) => /^q=0(?:\.0{0,3})?$/.test(parameter)));
  }
  const isAccepted = (coding: string) => accepted.get(coding) ?? accepted.get('*') ?? false;
  if (isAccepted('br')) return 'br';
  if (isAccepted('gzip') || accepted.get('x-gzip')) return 'gzip';
  return 'identity';
}

function createAsset(generated: GeneratedAsset): Asset {
  const decoded = new Map<Encoding, Body>();
  const stored = { br: generated.brotli, gzip: generated.gzip, identity: generated.identity };
  return {
    path: generated.path,
    contentType: generated.contentType,
    body(encoding) {
      const known = decoded.get(encoding);
      if (known) return known;
      const bytes = Uint8Array.fromBase64(stored[encoding]);
      decoded.set(encoding, bytes);
      return bytes;
    },
    etag: (encoding) => etagIn(encoding, generated.etag),
  };
}
