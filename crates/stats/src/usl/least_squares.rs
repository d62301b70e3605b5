//! Least-squares fit of the law's parameters, by the Levenberg–Marquardt method.

/// One measured point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// The number of whatever is scaled: connections, threads, machines.
    pub size: f64,
    /// Throughput, in any unit.
    pub throughput: f64,
    pub interval: Option<(f64, f64)>,
}

/// γ, α, β.
pub(super) type Parameters = [f64; 3];
pub(super) type Matrix = [[f64; 3]; 3];

/// The initial damping, and the factor by which it grows after a step that increases the error, or shrinks after one that reduces it.
const DAMPING: f64 = 1e-3;
const DAMPING_FACTOR: f64 = 10.0;
/// With this damping a step is too short to change anything.
const MAX_DAMPING: f64 = 1e12;
const MAX_STEPS: usize = 200;

/// Least squares on relative residuals X(N)/X − 1. The noise of throughput is relative, and without this the low points, which
/// determine γ, would hardly count next to the high ones.
pub(super) struct Problem<'a> {
    pub(super) points: &'a [Point],
    /// The parameters that are fitted; the others stay at zero.
    pub(super) free: [bool; 3],
}

/// 1 + α(N − 1) + βN(N − 1).
pub(super) fn divisor(fit: Parameters, n: f64) -> f64 {
    1.0 + fit[1] * (n - 1.0) + fit[2] * n * (n - 1.0)
}

impl Problem<'_> {
    /// Returns the relative residual of a point, and its derivatives with respect to γ, α, β.
    fn residual(&self, point: &Point, fit: Parameters) -> (f64, Parameters) {
        let (n, divisor) = (point.size, divisor(fit, point.size));
        let by_gamma = n / divisor / point.throughput;
        let by_divisor = -fit[0] * by_gamma / divisor;
        let gradient = [by_gamma, by_divisor * (n - 1.0), by_divisor * n * (n - 1.0)];
        let free = [0, 1, 2].map(|index| if self.free[index] { gradient[index] } else { 0.0 });
        (fit[0] * by_gamma - 1.0, free)
    }

    /// Returns the sum of the squared residuals.
    pub(super) fn square_sum(&self, fit: Parameters) -> f64 {
        self.points.iter().map(|point| self.residual(point, fit).0.powi(2)).sum()
    }

    /// Returns JᵀJ and Jᵀr for the residuals r and their derivatives J.
    pub(super) fn normal(&self, fit: Parameters) -> (Matrix, Parameters) {
        let (mut normal, mut right) = (Matrix::default(), Parameters::default());
        for point in self.points {
            let (residual, gradient) = self.residual(point, fit);
            add_row(&mut normal, gradient);
            (0..3).for_each(|index| right[index] += gradient[index] * residual);
        }
        (normal, right)
    }

    /// Returns the minimum, by steps (JᵀJ + λ·diag(JᵀJ))⁻¹Jᵀr from the start values. λ shrinks after each step that reduces the error;
    /// a step that does not is retried with a larger λ (Marquardt, *An algorithm for least-squares estimation of nonlinear parameters*,
    /// 1963).
    pub(super) fn minimum(&self) -> Parameters {
        let mut fit = start(self.points);
        (0..3).filter(|index| !self.free[*index]).for_each(|index| fit[index] = 0.0);
        let (mut square_sum, mut damping) = (self.square_sum(fit), DAMPING);
        for _ in 0..MAX_STEPS {
            let (mut normal, right) = self.normal(fit);
            (0..3).for_each(|index| normal[index][index] *= 1.0 + damping);
            let Some(inverse) = inverse(&normal) else { break };
            let step = product(&inverse, right);
            let next = [0, 1, 2].map(|index| fit[index] - step[index]);
            let next_sum = self.square_sum(next);
            if next_sum < square_sum {
                (fit, square_sum, damping) = (next, next_sum, damping / DAMPING_FACTOR);
            } else if damping < MAX_DAMPING {
                damping *= DAMPING_FACTOR;
            } else {
                break;
            }
        }
        fit
    }
}

/// Computes start values from the linear form N/X = 1/γ + (α/γ)(N − 1) + (β/γ)N(N − 1), by least squares on rows divided by N/X.
/// Negative results become zero.
fn start(points: &[Point]) -> Parameters {
    let (mut normal, mut right) = (Matrix::default(), Parameters::default());
    for point in points {
        let n = point.size;
        let row = [1.0, n - 1.0, n * (n - 1.0)].map(|value| value * point.throughput / n);
        add_row(&mut normal, row);
        (0..3).for_each(|index| right[index] += row[index]);
    }
    let linear = inverse(&normal).map(|inverse| product(&inverse, right)).filter(|linear| linear[0] > 0.0);
    let steepest = points.iter().map(|point| point.throughput / point.size).fold(0.0, f64::max);
    linear.map_or([steepest, 0.01, 0.0], |[first, second, third]| {
        [1.0 / first, (second / first).max(0.0), (third / first).max(0.0)]
    })
}

fn add_row(normal: &mut Matrix, row: Parameters) {
    for (sums, left) in normal.iter_mut().zip(row) {
        sums.iter_mut().zip(row).for_each(|(sum, right)| *sum += left * right);
    }
}

fn product(matrix: &Matrix, vector: Parameters) -> Parameters {
    matrix.map(|row| row.iter().zip(vector).map(|(a, b)| a * b).sum())
}

/// Inverts a symmetric positive matrix whose rows differ by many orders of magnitude, by scaling it to a unit diagonal first. A row
/// of zeros, from a parameter that is not fitted, stays zero.
pub(super) fn inverse(matrix: &Matrix) -> Option<Matrix> {
    let scale = [0, 1, 2].map(|i| if matrix[i][i] > 0.0 { matrix[i][i].sqrt().recip() } else { 0.0 });
    let scaled = |i: usize, j: usize| match scale[i] {
        0.0 if i == j => 1.0,
        _ => matrix[i][j] * scale[i] * scale[j],
    };
    let cofactor = |i: usize, j: usize| {
        let at = |row: usize, column: usize| scaled((i + row) % 3, (j + column) % 3);
        at(1, 1) * at(2, 2) - at(1, 2) * at(2, 1)
    };
    let determinant: f64 = (0..3).map(|j| scaled(0, j) * cofactor(0, j)).sum();
    let inverse = [0, 1, 2].map(|i| [0, 1, 2].map(|j| cofactor(j, i) / determinant * scale[i] * scale[j]));
    (determinant != 0.0 && inverse.iter().flatten().all(|value| value.is_finite())).then_some(inverse)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_derivatives_are_those_of_the_residuals() {
        let point = Point { size: 12.0, throughput: 8000.0, interval: None };
        let problem = Problem { points: &[point], free: [true; 3] };
        let fit = [900.0, 0.05, 0.0001];
        let exact = problem.residual(&point, fit).1;
        for index in 0..3 {
            let mut moved = fit;
            let step = 1e-5 * fit[index];
            moved[index] += step;
            let ahead = problem.residual(&point, moved).0;
            moved[index] -= 2.0 * step;
            let numeric = (ahead - problem.residual(&point, moved).0) / (2.0 * step);
            assert!((exact[index] / numeric - 1.0).abs() < 1e-6, "{index}");
        }
    }

    #[test]
    fn a_matrix_times_its_inverse_is_one_also_when_its_rows_differ_by_orders() {
        let matrix = [[4.0, 2e5, 1e-3], [2e5, 3e10, 5.0], [1e-3, 5.0, 2e-6]];
        let inverse = inverse(&matrix).unwrap();
        for (index, row) in matrix.iter().enumerate() {
            for (column, one) in [0, 1, 2].iter().enumerate() {
                let sum: f64 = (0..3).map(|k| row[k] * inverse[k][column]).sum();
                let size: f64 = (0..3).map(|k| (row[k] * inverse[k][column]).abs()).sum();
                assert!((sum - f64::from(u8::from(index == *one))).abs() < 1e-9 * size.max(1.0));
            }
        }
    }

    #[test]
    fn a_row_of_zeros_stays_zero_and_a_singular_matrix_has_no_inverse() {
        let inverse_of_two = inverse(&[[2.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 4.0]]).unwrap();
        assert_eq!(inverse_of_two, [[0.5, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.25]]);
        assert_eq!(inverse(&[[1.0; 3]; 3]), None);
    }
}
