// The time range and the cursor that all charts over time share.

import uPlot from "uplot";
import { alive } from "./alive";

export interface Range { min: number; max: number }

type Listener = (range: Range) => void;

/** Links the charts of one run; each run on the page has one. */
export class TimeLink {
  readonly sync: uPlot.SyncPubSub;
  private range: Range;
  private readonly listeners = new Set<Listener>();

  constructor(private full: Range, name: string) {
    this.range = full;
    this.sync = uPlot.sync(name);
  }

  get current(): Range {
    return this.range;
  }

  get zoomed(): boolean {
    return this.range.min > this.full.min || this.range.max < this.full.max;
  }

  subscribe(listener: Listener): () => void {
    this.listeners.add(listener);
    alive("listeners", 1);
    return () => { if (this.listeners.delete(listener)) alive("listeners", -1); };
  }

  set(range: Range): void {
    const least = (this.full.max - this.full.min) / 1000;
    const min = Math.max(this.full.min, Math.min(range.min, range.max - least));
    const max = Math.min(this.full.max, Math.max(range.max, min + least));
    if (min === this.range.min && max === this.range.max) return;
    this.range = { min, max };
    for (const listener of this.listeners) listener(this.range);
  }

  reset(): void {
    this.set(this.full);
  }

  /** Zooms in for a factor below 1, out above 1. */
  zoom(factor: number): void {
    const centre = (this.range.min + this.range.max) / 2;
    const half = ((this.range.max - this.range.min) / 2) * factor;
    this.set({ min: centre - half, max: centre + half });
  }

  /** Shifts the range by a part of its length. */
  pan(part: number): void {
    const length = this.range.max - this.range.min;
    const min = Math.max(this.full.min, Math.min(this.range.min + part * length, this.full.max - length));
    this.set({ min, max: min + length });
  }

  /** Extends the full range of a run that became longer. The shown range follows unless the reader has zoomed in. */
  extend(full: Range): void {
    const follows = !this.zoomed;
    this.full = full;
    if (follows) this.set(full);
  }
}
