import { ApiError, errorOf } from '../api/error';
import { csrf, expired, signedInAgain } from '../api/session';

export interface Uploaded {
  id: string;
  name: string;
  mediaType: string;
  size: number;
  url: string;
}

// upload streams a file into a conversation. Fetch tells nothing of how much was sent; XMLHttpRequest does.
export function upload(conversation: string, file: File, onProgress: (sent: number) => void, signal: AbortSignal): Promise<Uploaded> {
  return new Promise((resolve, reject) => {
    const x = new XMLHttpRequest();
    x.open('POST', `/api/conversations/${encodeURIComponent(conversation)}/uploads?name=${encodeURIComponent(file.name)}`);
    x.setRequestHeader('Content-Type', 'application/octet-stream');
    const token = csrf();
    if (token) x.setRequestHeader('X-CSRF-Token', token);
    x.upload.onprogress = (e) => onProgress(e.loaded);
    x.onload = async () => {
      if (x.status < 300) return resolve(JSON.parse(x.responseText) as Uploaded);
      const error = await errorOf(new Response(x.responseText, { status: x.status }));
      if (!error.signedOut) return reject(error);
      expired();
      signedInAgain(signal).then(() => upload(conversation, file, onProgress, signal).then(resolve, reject), reject);
    };
    x.onerror = () => reject(new ApiError({ status: 0, code: 'unavailable', message: 'the upload broke off', hint: 'try it again when the network is back', retryable: true }));
    x.onabort = () => reject(new DOMException('removed', 'AbortError'));
    signal.addEventListener('abort', () => x.abort());
    x.send(file);
  });
}
