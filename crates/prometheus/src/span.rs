//! Equidistant instants, and their division into parts.

/// A number of instants, `step_sec` apart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Span {
    /// The first instant, in seconds since 1970 (UTC).
    pub start_sec: f64,
    pub step_sec: f64,
    /// The number of instants, at least one.
    pub instants: usize,
}

/// Why a period has no instants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SpanError {
    #[error("the time ends before it begins; write --from before --to")]
    Reversed,
    #[error("there are fewer than 20 steps in this time; choose a longer time or a shorter --step")]
    Short,
    #[error("there are more than 100,000 steps in this time; choose a shorter time or a longer --step")]
    Long,
}

impl Span {
    /// The maximum of values per series in one query. Prometheus rejects more than 11,000; with fewer, a failed part loses less.
    pub const MAX_POINTS: usize = 5_000;
    /// The number of instants used for any period, unless the user chooses a step.
    const USUAL_INSTANTS: f64 = 1_500.0;
    const MIN_INSTANTS: usize = 20;
    const MAX_INSTANTS: usize = 100_000;

    /// Creates the instants from one time to another, both in seconds since 1970. A step that is not given is a whole number of
    /// seconds and at least `window_sec`, so that windows of a rate do not overlap. The first instant is a multiple of the step, as
    /// in dashboards, so that the server may use its cache.
    ///
    /// # Errors
    /// When the period ends before it begins, or has too few or too many steps.
    pub fn new(
        from_sec: f64,
        to_sec: f64,
        step_sec: Option<f64>,
        window_sec: f64,
    ) -> Result<Self, SpanError> {
        let length = to_sec - from_sec;
        if length <= 0.0 {
            return Err(SpanError::Reversed);
        }
        let usual = (length / Self::USUAL_INSTANTS).max(window_sec).ceil().max(1.0);
        let step_sec = step_sec.filter(|step| *step > 0.0).unwrap_or(usual);
        let start_sec = (from_sec / step_sec).ceil() * step_sec;
        let instants = ((to_sec - start_sec) / step_sec).floor().max(-1.0) as i64 + 1;
        match usize::try_from(instants).unwrap_or(0) {
            few if few < Self::MIN_INSTANTS => Err(SpanError::Short),
            many if many > Self::MAX_INSTANTS => Err(SpanError::Long),
            instants => Ok(Self { start_sec, step_sec, instants }),
        }
    }

    /// Returns the last instant.
    pub fn end_sec(&self) -> f64 {
        self.start_sec + self.step_sec * self.instants.saturating_sub(1) as f64
    }

    /// Returns the resolution and the range, in milliseconds, of a subquery for the last value within this span. The resolution is
    /// at least the usual step, and the range includes the first instant.
    pub(crate) fn last_over_ms(&self) -> (u64, u64) {
        let length_sec = self.end_sec() - self.start_sec;
        let step_sec = self.step_sec.max(length_sec / Self::USUAL_INSTANTS);
        let milliseconds = |sec: f64| ((sec * 1e3).ceil() as u64).max(1);
        (milliseconds(step_sec), milliseconds(length_sec + step_sec))
    }

    /// Splits the span into parts that each fit into one query.
    pub(crate) fn parts(self) -> impl Iterator<Item = Self> {
        let begin = move |part: usize| part * Self::MAX_POINTS;
        (0..self.instants.div_ceil(Self::MAX_POINTS)).map(move |part| Self {
            start_sec: self.start_sec + self.step_sec * begin(part) as f64,
            step_sec: self.step_sec,
            instants: Self::MAX_POINTS.min(self.instants - begin(part)),
        })
    }

    /// Returns the index of an instant; `None` for a time outside of the span.
    pub(crate) fn place(&self, at_sec: f64) -> Option<usize> {
        let place = ((at_sec - self.start_sec) / self.step_sec).round();
        (place >= 0.0 && place < self.instants as f64).then_some(place as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WEEK: f64 = 7.0 * 86_400.0;

    #[test]
    fn a_week_has_instants_that_no_window_covers_twice() {
        let week = Span::new(1_000.0, 1_000.0 + WEEK, None, 60.0).unwrap();
        assert_eq!(week.step_sec, 404.0);
        assert!(week.instants <= 1_500 && week.end_sec() <= 1_000.0 + WEEK);
        assert_eq!(week.start_sec % week.step_sec, 0.0);
        assert_eq!(Span::new(0.0, 3_600.0, None, 60.0).unwrap().step_sec, 60.0);
    }

    #[test]
    fn parts_hold_every_instant_once_and_none_too_many() {
        let span = Span::new(0.0, WEEK, Some(15.0), 60.0).unwrap();
        let parts: Vec<Span> = span.parts().collect();
        assert!(parts.len() > 2 && parts.iter().all(|part| part.instants <= Span::MAX_POINTS));
        assert_eq!(parts.iter().map(|part| part.instants).sum::<usize>(), span.instants);
        for pair in parts.windows(2) {
            assert_eq!(pair[0].end_sec() + span.step_sec, pair[1].start_sec);
        }
        assert_eq!(parts[parts.len() - 1].end_sec(), span.end_sec());
        assert_eq!(span.place(parts[1].start_sec), Some(Span::MAX_POINTS));
        assert_eq!((span.place(-15.0), span.place(2.0 * WEEK)), (None, None));
    }

    #[test]
    fn a_time_without_enough_instants_is_refused() {
        assert_eq!(Span::new(10.0, 5.0, None, 60.0), Err(SpanError::Reversed));
        assert_eq!(Span::new(0.0, 600.0, None, 60.0), Err(SpanError::Short));
        assert_eq!(Span::new(0.0, WEEK, Some(1.0), 1.0), Err(SpanError::Long));
    }
}
