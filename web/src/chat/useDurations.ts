import { useEffect, useState } from 'react';
import { chatApi } from './api';

// Ended turns never change: what was asked once is kept.
const kept = new Map<string, Promise<number[]>>();

// useDurations is how many milliseconds each tool call of an ended turn took, in the order of the calls.
export function useDurations(turn: string | undefined, ended: boolean): number[] | undefined {
  const [took, setTook] = useState<number[]>();
  useEffect(() => {
    if (!turn || !ended) return;
    let here = true;
    durations(turn).then(
      (all) => here && setTook(all),
      () => {}, // a line without its seconds is still right
    );
    return () => {
      here = false;
    };
  }, [turn, ended]);
  return took;
}

function durations(turn: string): Promise<number[]> {
  let asked = kept.get(turn);
  if (!asked) {
    asked = chatApi.turn(turn).then(({ steps }) => {
      const calls = new Map<number, number>(); // the last attempt of a step counts
      for (const s of steps) if (s.kind === 'tool') calls.set(s.n, s.ended ? Date.parse(s.ended) - Date.parse(s.started) : 0);
      return [...calls].sort(([a], [b]) => a - b).map(([, ms]) => ms);
    });
    asked.catch(() => kept.delete(turn));
    kept.set(turn, asked);
  }
  return asked;
}
