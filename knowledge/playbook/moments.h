// Mean and variance of numbers that are visited once. Pieces to paste; vectors.h says how.
#pragma once

// piece: moments needs:
// How many numbers there were, their mean, and the sum of their squared distances from it; blocks are added one after the other,
// each with its own, so that nothing is the difference of large sums.
struct kw_moments {
  double count = 0.0, mean = 0.0, squares = 0.0;
  void add(double own_count, double own_mean, double own_squares) {
    const double all = count + own_count, apart = own_mean - mean;
    squares += own_squares + apart * apart * (count * own_count / all);
    mean += apart * (own_count / all);
    count = all;
  }
};
